# Counts that do not fit into 64 bits are said to be more than that.
# run: plan {file}
--- program
param n = 4000000000
tensor a: f64
tensor b(n): f64
tensor c(n): f64
tensor d(n): f64
a = b(i) * c(j) * d(k)
--- stdout
many_flop.distal on 1 rank

a = b(i) * c(j) * d(k)
  more than 9.2e18 flop; at most 89.4 GiB of memory in a rank

                                     moved      moved      messages      home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank   largest  largest
  a       local    -       1           0 B        0 B             0       8 B      0 B
  b       local    -       1           0 B        0 B             0  29.8 GiB      0 B
  c       local    -       1           0 B        0 B             0  29.8 GiB      0 B
  d       local    -       1           0 B        0 B             0  29.8 GiB      0 B
  W       local    -       1           0 B        0 B             0       8 B      0 B
