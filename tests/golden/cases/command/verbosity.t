# More and less at once.
# run: check -v -q {file}
# status: 2
--- program
machine M = grid(2)
tensor A(4): f64
tensor B(4): f64
place A(x) -> M(x)
place B(x) -> M(x)
A(i) = B(i)
--- stderr
distal: error: both -v and -q are given
'distal help' lists commands and options
