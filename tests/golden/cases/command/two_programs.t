# FILE and -e, and an argument too many.
# run: check {file} -e 'tensor a: f64' -e x other
# status: 2
--- program
machine M = grid(2)
tensor A(4): f64
tensor B(4): f64
place A(x) -> M(x)
place B(x) -> M(x)
A(i) = B(i)
--- stderr
distal: error: -e is given twice
distal: error: unexpected argument 'other'
distal: error: both a FILE ('two_programs.distal') and -e TEXT are given
'distal help' lists commands and options
