# run: run --out B=b.npy {file}
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
tensor k: i32
A(i, j) = B(i, j) * k
