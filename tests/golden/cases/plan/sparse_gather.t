# Of x a rank gets what the columns of its entries name. With a stencil on 6 x 6 points, of which a rank has two
# lines, these are the lines next to its own.
# run: plan --in B=stencil:5 {file}
--- program
machine M = grid(3)
tensor B(36, 36): f64, csr
tensor x(36): f64
tensor y(36): f64
place B(i, j) -> M(i)
place x(j) -> M(j)
place y(i) -> M(i)
y(i) = B(i, j) * x(j)
--- stdout
sparse_gather.distal on 3 ranks

y(i) = B(i, j) * x(j)
  at most 1160 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries    entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance
  B       local    io      1           0 B        0 B             0    776 B      0 B      156      1.077
  x       gather   io      1          96 B      192 B             2     96 B    192 B        -          -
  y       local    io      1           0 B        0 B             0     96 B      0 B        -          -
