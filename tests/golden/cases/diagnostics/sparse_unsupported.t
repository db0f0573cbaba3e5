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
z(i) = B(i, j) * x(j)
y(i) = B(i, j) * x(j)
schedule y { distribute(i) }
y(i) = B(i, j) * x(j)
schedule y { communicate(x, i) }
tensor A(8, 8): f64, csr
A(i, k) = B(i, j) * B(j, k)
schedule A { precompute(B(i, j) * B(j, k), {i, k}, {i, k}, w) }
--- stderr
sparse_unsupported.distal:8:8: error: tensor 'B' is sparse, and distributing statements with sparse tensors is not supported yet; without distribute and places one process computes
   8 | y(i) = B(i, j) * x(j)
     |        ^~~~~~~
sparse_unsupported.distal:11:14: error: tensor 'B' is sparse, and communicating inside loops of statements with sparse tensors is not supported yet; leave communicate out
  11 | schedule y { communicate(x, i) }
     |              ^~~~~~~~~~~~~~~~~
sparse_unsupported.distal:14:14: error: tensor 'A' is sparse, and workspaces of statements with sparse results are not supported yet; leave precompute out
  14 | schedule A { precompute(B(i, j) * B(j, k), {i, k}, {i, k}, w) }
     |              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
