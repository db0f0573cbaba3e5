# The entries of a result cannot follow from a row.
# run: explain {file} --stop-after spmd
# status: 2
--- program
tensor A(8, 8): f64, csr
tensor B(8, 8): f64, csr
A(i, l) = B(i, j) * B(j, k) * B(k, l)
schedule A { precompute(B(i, j) * B(j, k), {k}, {k}, W) }
--- stderr
precompute_row_sparse.distal:4:14: error: entries of 'A' that follow from the workspace 'W' are not supported yet, as that stores zeros where it has no value: leave it out
   4 | schedule A { precompute(B(i, j) * B(j, k), {k}, {k}, W) }
     |              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
