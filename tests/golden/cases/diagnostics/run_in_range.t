# run: run --in k=const:99999999999 {file}
# status: 2
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
tensor k: i32
A(i, j) = B(i, j) * k
--- stderr
distal: error: '99999999999' does not fit into i32, the type of k
