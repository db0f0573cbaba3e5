# run: run --in B=const:x {file}
# status: 2
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
tensor k: i32
A(i, j) = B(i, j) * k
--- stderr
distal: error: 'x' in 'const:x', the source of B, is not a number
