# run: plan {file}
# status: 2
--- program
machine M = grid(2)
tensor B(8, 8): f64, csr
tensor A(8): f64, {compressed}
place B(i, j) -> M(i)
A(i) = B(i, j)
schedule A { distribute({i}, {io}, {ii}, M) }
--- stderr
entries_computed_elsewhere.distal:5:1: error: rank 1 computes entries of sparse tensor 'A' that have a home on other ranks, and moving entries is not supported yet; place it where the statement is computed
   5 | A(i) = B(i, j)
     | ^~~~
