# run: run --in B=random:1:2 {file}
# status: 2
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
tensor k: i32
A(i, j) = B(i, j) * k
--- stderr
distal: error: the density in 'random:1:2', the source of B, is not a number from 0 to 1
