# run: run --out A=a.txt {file}
# status: 2
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
tensor k: i32
A(i, j) = B(i, j) * k
--- stderr
distal: error: cannot write A to 'a.txt': the ending must be one of .npy, .mtx, .tns, .csv, .h5, .h5:/NAME
