# run: run --in X=zeros {file}
# status: 2
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
tensor k: i32
A(i, j) = B(i, j) * k
--- stderr
distal: error: --in X=zeros: the program has no tensor 'X' (tensors: A B k)
