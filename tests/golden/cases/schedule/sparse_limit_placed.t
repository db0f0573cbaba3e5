# Placements in disk are proposed for programs without sparse tensors only.
# run: schedule {file} --in B=random:1:0.1 --memory-limit 2K
# status: 1
--- program
param n = 100
machine M = grid(2)
tensor y(n): f64
tensor B(n, n): f64, csr
tensor x(n): f64
place B(i, j) -> M(i)
place x(i) -> M(i)
y(i) = B(i, j) * x(j)
--- stderr
sparse_limit_placed.distal:8:1: error: no schedule was found that keeps a rank within 2048 B of memory: this statement needs 9024 B on 2 ranks
   8 | y(i) = B(i, j) * x(j)
     | ^~~~~~~~~~~~~~~~~~~~~
sparse_limit_placed.distal: note: more ranks need less memory each
