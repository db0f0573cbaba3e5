# A sparse tensor is read where it is updated.
# run: check {file}
# status: 2
--- program
tensor T(4, 4): f64, csr
tensor A(4, 4): f64
tensor x(4): f64
T(i, j) = T(i, j) * A(i, j) * x(j)
schedule T {
  precompute(T(i, j) * A(i, j), {i, j}, {i, j}, W, csr)
}
--- stderr
updated_in_workspace.distal:4:1: error: an update of 'T', which is sparse, reads it where it is computed, and not in a workspace alone: leave the 'precompute' out
   4 | T(i, j) = T(i, j) * A(i, j) * x(j)
     | ^~~~~~~
