# run: run --in k=const:1.5 {file}
# status: 2
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
tensor k: i32
A(i, j) = B(i, j) * k
--- stderr
distal: error: k is i32, and '1.5' in 'const:1.5' is not an integer
