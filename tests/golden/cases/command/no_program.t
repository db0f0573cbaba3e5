# A command without its program.
# run: plan -n 2
# status: 2
--- program
machine M = grid(2)
tensor A(4): f64
tensor B(4): f64
place A(x) -> M(x)
place B(x) -> M(x)
A(i) = B(i)
--- stderr
distal: error: no program given: write distal plan FILE, where - is standard input, or distal plan -e TEXT
'distal help' lists commands and options
