# run: plan {file}
--- program
param n = 7
tensor a: i32
tensor B(n, n): i32
a += B(i, i) / 3
--- stdout
integers.distal on 1 rank

a += B(i, i) / 3
  14 flop; at most 200 B of memory in a rank

                                     moved      moved      messages     home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest
  a       local    -       1           0 B        0 B             0      4 B      0 B
  B       local    -       1           0 B        0 B             0    196 B      0 B
