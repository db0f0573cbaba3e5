# Sparse tensors are not placed yet.
# run: check {file}
# status: 2
--- program
machine M = grid(2)
tensor B(8, 8): f64, csr
place B(x, y) -> M(x)
--- stderr
place_sparse.distal:3:7: error: tensor 'B' is sparse, and placing sparse tensors is not supported yet; without a place one process has it
   3 | place B(x, y) -> M(x)
     |       ^
