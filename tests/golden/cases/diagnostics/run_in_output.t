# run: run --in A=zeros {file}
# status: 2
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
tensor k: i32
A(i, j) = B(i, j) * k
--- stderr
distal: error: --in A=zeros: 'A' is not an input: the program computes it
