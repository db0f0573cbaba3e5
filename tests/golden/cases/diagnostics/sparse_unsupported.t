# What is not supported yet on sparse tensors says so.
# run: explain {file} --stop-after spmd
# status: 2
--- program
machine M = grid(2)
tensor B(8, 8): f64, csr
tensor x(8): f64
tensor y(8): f64
tensor z(8): f64
place z(i) -> M(i)
y(i) = B(i, j) * x(j)
z(i) = B(i, j) * x(j)
y(i) = B(i, j) * x(j)
schedule y { distribute(i) }
--- stderr
sparse_unsupported.distal:7:8: error: tensor 'B' is sparse, and statements with sparse tensors are not supported yet
   7 | y(i) = B(i, j) * x(j)
     |        ^~~~~~~
sparse_unsupported.distal:8:8: error: tensor 'B' is sparse, and distributing statements with sparse tensors is not supported yet; without distribute and places one process computes
   8 | z(i) = B(i, j) * x(j)
     |        ^~~~~~~
sparse_unsupported.distal:9:8: error: tensor 'B' is sparse, and distributing statements with sparse tensors is not supported yet; without distribute and places one process computes
   9 | y(i) = B(i, j) * x(j)
     |        ^~~~~~~
