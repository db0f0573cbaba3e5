# Each rank has the entries of its rows; B is computed with where it is, and the result where that is.
# run: plan --in B=const:1 {file}
--- program
machine M = grid(3)
tensor B(8, 6): f64, csr
tensor A(8, 6): f64, csr
tensor C(6, 2): f64
tensor D(8, 2): f64
place B(i, j) -> M(i)
place A(i, j) -> M(i)
place C(j, k) -> M(*)
place D(i, k) -> M(i)
A(i, j) = B(i, j) * D(i, k) * C(j, k)
--- stdout
sparse_rows.distal on 3 ranks

A(i, j) = B(i, j) * D(i, k) * C(j, k)
  at most 536 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries    entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance
  B       local    io      1           0 B        0 B             0    248 B      0 B       48      1.125
  A       local    io      1           0 B        0 B             0    144 B      0 B       48      1.125
  C       local    io      1           0 B        0 B             0     96 B      0 B        -          -
  D       local    io      1           0 B        0 B             0     48 B      0 B        -          -
