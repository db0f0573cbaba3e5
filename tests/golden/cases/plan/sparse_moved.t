# Of C a rank gets the rows that the columns of its entries of B name, and with them the coordinates, once. With a stencil on
# 6 x 6 points, of which a rank has two lines, these are the lines next to its own.
# run: plan --in B=stencil:5 --in C=stencil:5 {file}
--- program
machine M = grid(3)
tensor B(36, 36): f64, csr
tensor C(36, 36): f64, csr
tensor A(36, 36): f64, csr
place B(i, k) -> M(i)
place C(k, j) -> M(k)
place A(i, j) -> M(i)
A(i, j) = B(i, k) * C(k, j)
--- stdout
sparse_moved.distal on 3 ranks

A(i, j) = B(i, k) * C(k, j)
  at most 5800 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries    entries     structure
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance  busiest rank
  B       local    io      1           0 B        0 B             0    776 B      0 B      156      1.077           0 B
  C       gather   io      1         448 B      896 B             2    776 B   3928 B      156      1.077         288 B
  A       local    io      1           0 B        0 B             0      0 B    320 B        ?          ?           0 B
  The memory of A is not counted: what is stored is known once it is given or computed.
  It is estimated that A gets 352 entries, 4224 B with their coordinates.
