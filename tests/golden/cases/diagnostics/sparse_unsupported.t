# What is not supported yet on sparse tensors says so.
# run: explain {file} --stop-after spmd
# status: 2
--- program
tensor B(8, 8): f64, csr
tensor x(8): f64
tensor y(8): f64
y(i) = B(i, j) * x(j)
schedule y { communicate(x, i) }
tensor A(8, 8): f64, csr
A(i, k) = B(i, j) * B(j, k)
schedule A { precompute(B(i, j) * B(j, k), {i, k}, {i, k}, w) }
--- stderr
sparse_unsupported.distal:5:14: error: tensor 'B' is sparse, and communicating inside loops of statements with sparse tensors is not supported yet; leave communicate out
   5 | schedule y { communicate(x, i) }
     |              ^~~~~~~~~~~~~~~~~
sparse_unsupported.distal:8:14: error: tensor 'A' is sparse, and workspaces of statements with sparse results are not supported yet, unless the result has the structure of an operand that is multiplied last; leave precompute out
   8 | schedule A { precompute(B(i, j) * B(j, k), {i, k}, {i, k}, w) }
     |              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
