# run: plan {file}
--- program
param n = 7, m = 5
machine M = grid(2)
tensor a(n): f64
tensor b(n): f64
tensor B(n, m): f64
tensor c(m): f64
place a(x) -> M(x)
place B(x, y) -> M(x)
a(i) = b(i) - 2 * B(i, j) * c(j)
--- stdout
mixed_terms.distal on 2 ranks

a(i) = b(i) - 2 * B(i, j) * c(j)
  105 flop; at most 264 B of memory in a rank

                                     moved      moved      messages     home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest
  a       local    io      1           0 B        0 B             0     32 B      0 B
  b       local    io      1           0 B        0 B             0     32 B      0 B
  B       local    io      1           0 B        0 B             0    160 B      0 B
  c       local    io      1           0 B        0 B             0     40 B      0 B
