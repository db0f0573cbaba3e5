# Two tensors to one file: only one of them would be left.
# run: run {file} --out A=a.npy --out B=./a.npy
# status: 2
--- program
tensor A(4): f64
tensor B(4): f64
A(i) = B(i)
--- stderr
distal: error: --out B=./a.npy: 'A' is already written to this file
