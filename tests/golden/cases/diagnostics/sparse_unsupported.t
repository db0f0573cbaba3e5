# What is not supported yet on sparse tensors says so.
# run: explain {file} --stop-after spmd
# status: 2
--- program
tensor B(8, 8): f64, csr
tensor A(8, 8): f64, csr
A(i, k) = B(i, j) * B(j, k)
schedule A { precompute(B(i, j) * B(j, k), {i, k}, {i, k}, w) }
--- stderr
sparse_unsupported.distal:4:14: error: tensor 'A' is sparse, and workspaces of statements with sparse results are not supported yet, unless the result has the structure of an operand that is multiplied last; leave precompute out
   4 | schedule A { precompute(B(i, j) * B(j, k), {i, k}, {i, k}, w) }
     |              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
