# A workspace whose last level stores every coordinate has elements where it has no value.
# run: explain {file} --stop-after spmd
# status: 2
--- program
tensor B(8, 8): f64, csr
tensor A(8, 8): f64, csr
A(i, k) = B(i, j) * B(j, k)
schedule A { precompute(B(i, j) * B(j, k), {i, k}, {i, k}, w, {compressed, dense}) }
--- stderr
workspace_stores_zeros.distal:4:14: error: entries of 'A' that follow from the workspace 'w' are not supported yet, as that stores zeros where it has no value: give it a last level that lists coordinates, as in precompute(..., W, csr), or leave it out
   4 | schedule A { precompute(B(i, j) * B(j, k), {i, k}, {i, k}, w, {compressed, dense}) }
     |              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
