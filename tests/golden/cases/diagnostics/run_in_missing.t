# run: run --in B=missing.npy {file}
# status: 1
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
tensor k: i32
A(i, j) = B(i, j) * k
--- stderr
distal: error: cannot read 'missing.npy': No such file or directory
