# run: run --in B {file}
# status: 2
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
tensor k: i32
A(i, j) = B(i, j) * k
--- stderr
distal: error: invalid value 'B' for --in: expected TENSOR=SOURCE
'distal help' lists commands and options
