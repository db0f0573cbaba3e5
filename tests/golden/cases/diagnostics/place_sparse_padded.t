# What a dense level stores below stored coordinates cannot be partitioned yet, and neither can what a split of entries gives.
# run: check {file}
# status: 2
--- program
machine M = grid(2)
tensor B(8, 8): f64, {compressed, dense}
tensor C(8, 8): f64, {compressed, dense}
tensor D(8, 8): f64, csr
place B(x, y) -> M(x)
place C(x, y) -> M(y)
place D(x, y) -> M(~x)
--- stderr
place_sparse_padded.distal:6:20: error: mode 1 of sparse tensor 'C' is stored in full below stored coordinates, and partitioning such a mode is not supported yet
   6 | place C(x, y) -> M(y)
     |                    ^
place_sparse_padded.distal:7:20: error: a placement of the stored coordinates of a mode is not supported yet
   7 | place D(x, y) -> M(~x)
     |                    ^~
