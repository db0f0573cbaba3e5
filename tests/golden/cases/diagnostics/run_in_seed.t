# run: run --in B=random:x {file}
# status: 2
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
tensor k: i32
A(i, j) = B(i, j) * k
--- stderr
distal: error: the seed in 'random:x', the source of B, is not an integer from 0 to 18446744073709551615
