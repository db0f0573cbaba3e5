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
  at most 792 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored
  B       local    -       1           0 B        0 B             0    648 B      0 B       48
  C       local    -       1           0 B        0 B             0      0 B      0 B        ?
  x       gather   -       1          32 B       32 B             2     16 B     48 B        -
  y       reduce   -       1          48 B       48 B             3     16 B     64 B        -
  The memory of C is not counted: what is stored is known once it is given or computed.
