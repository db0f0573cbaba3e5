# A sparse tensor is whole on the first rank, which computes. Dense operands that are placed are brought there.
# run: plan --in B=const:1 --ranks 4 {file}
--- program
machine M = grid(4)
tensor B(8, 6): f64, csr
tensor C(8, 6): f64, dcsr
tensor x(6): f64
tensor y(8): f64
place x(i) -> M(i)
place y(i) -> M(i)
y(i) = B(i, j) * x(j) + C(i, j) * x(j)
--- stdout
sparse.distal on 4 ranks

y(i) = B(i, j) * x(j) + C(i, j) * x(j)
  at most 248 B of memory in a rank

                                        moved      moved      messages     home  buffers  entries    entries
  tensor  pattern     at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance
  B       local       io      1           0 B        0 B             0    168 B      0 B       48      1.000
  C       local       io      1           0 B        0 B             0      0 B      0 B        ?          ?
  x       all-gather  io      1          48 B      144 B             3     16 B     48 B        -          -
  y       local       io      1           0 B        0 B             0     16 B      0 B        -          -
  The memory of C is not counted: what is stored is known once it is given or computed.
