# A file that is not there.
# run: check missing.distal
# status: 2
--- program
machine M = grid(2)
tensor A(4): f64
tensor B(4): f64
place A(x) -> M(x)
place B(x) -> M(x)
A(i) = B(i)
--- stderr
distal: error: cannot read 'missing.distal': No such file or directory
