# Only dense tensors can be in disk.
# run: plan {file}
# status: 2
--- program
machine M = grid(2)
tensor A(8): f64
tensor B(8, 8): f64, csr
tensor c(8): f64
place B(x, y) -> M(x) in disk
A(i) = B(i, j) * c(j)
--- stderr
place_disk_sparse.distal:5:7: error: sparse tensor 'B' is in disk, where only dense tensors can be: leave out 'in disk'
   5 | place B(x, y) -> M(x) in disk
     |       ^~~~~~~~~~~~~~~~~~~~~~~
