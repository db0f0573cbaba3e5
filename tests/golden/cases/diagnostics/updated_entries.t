# Updates of sparse tensors that would change their entries.
# run: check {file}
# status: 2
--- program
param n = 4
tensor S(n, n): f64, csr
tensor T(n, n): f64, csr
tensor A(n, n): f64
tensor x(n): f64
S(i, j) = S(i, j) * T(i, j)
S(i, j) += S(i, j) + T(i, j)
S(i, j) = S(i, j) * A(j, k)
S(i, j) = T(i, j) * sum({k}, S(i, k) * x(k))
--- stderr
updated_entries.distal:6:21: error: an update of 'S', which is sparse, keeps its entries, and this operand may have others
   6 | S(i, j) = S(i, j) * T(i, j)
     |                     ^~~~~~~
updated_entries.distal: note: assign to a second tensor and copy that into 'S'
updated_entries.distal:7:22: error: an update of 'S', which is sparse, keeps its entries, and this operand may have others
   7 | S(i, j) += S(i, j) + T(i, j)
     |                      ^~~~~~~
updated_entries.distal: note: assign to a second tensor and copy that into 'S'
updated_entries.distal:8:11: error: an update of 'S', which is sparse, is computed entry by entry, and this is not
   8 | S(i, j) = S(i, j) * A(j, k)
     |           ^~~~~~~~~~~~~~~~~
updated_entries.distal: note: write sums as explicit reductions, as sum({k}, ...), or assign to a second tensor and copy that into 'S'
updated_entries.distal:9:11: error: an update of 'S', which is sparse, keeps its entries, and this operand may have others
   9 | S(i, j) = T(i, j) * sum({k}, S(i, k) * x(k))
     |           ^~~~~~~
updated_entries.distal: note: assign to a second tensor and copy that into 'S'
