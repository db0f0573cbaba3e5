# What a dense level stores below stored coordinates cannot be partitioned yet.
# run: check {file}
# status: 2
--- program
machine M = grid(2)
tensor B(8, 8): f64, {compressed, dense}
tensor C(8, 8): f64, {compressed, dense}
place B(x, y) -> M(x)
place C(x, y) -> M(y)
--- stderr
place_sparse_padded.distal:5:20: error: mode 1 of sparse tensor 'C' is stored in full below stored coordinates, and partitioning such a mode is not supported yet
   5 | place C(x, y) -> M(y)
     |                    ^
