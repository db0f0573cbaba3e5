# run: plan {file}
--- program
param n = 6
machine M = grid(2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor t(n): f64
place A(x, y) -> M(x)
place B(x, y) -> M(y)
A(i, j) = B(i, j)
t(i) = A(i, j)
--- stdout
two_statements.distal on 2 ranks

A(i, j) = B(i, j)
  0 flop; at most 456 B of memory in a rank

                                      moved      moved      messages     home  buffers
  tensor  pattern   at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local     io      1           0 B        0 B             0    144 B      0 B
  B       exchange  io      1          72 B      144 B             1    144 B    144 B

t(i) = A(i, j)
  36 flop; at most 312 B of memory in a rank

                                     moved      moved      messages     home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local    io      1           0 B        0 B             0    144 B      0 B
  t       local    io      1           0 B        0 B             0     24 B      0 B

all statements
  36 flop; 144 B in 2 messages; at most 456 B of memory in a rank
