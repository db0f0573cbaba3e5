# run: run --in B=b.mtx {file}
# status: 2
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
tensor k: i32
A(i, j) = B(i, j) * k
--- stderr
distal: error: cannot read B from 'b.mtx': .mtx is not supported yet
