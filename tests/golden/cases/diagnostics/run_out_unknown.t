# run: run --out X=x.npy {file}
# status: 2
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
tensor k: i32
A(i, j) = B(i, j) * k
--- stderr
distal: error: --out X=x.npy: the program has no tensor 'X' (tensors: A B k)
