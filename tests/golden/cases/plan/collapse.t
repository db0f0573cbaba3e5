# run: plan {file}
--- program
param n = 7, m = 5
machine M = grid(3)
tensor A(n, m): c64
tensor B(m, n): c64
A(i, j) = B(j, i) * 0.5
schedule A {
  collapse(i, j, f)
  divide(f, fo, fi, 3)
  distribute(fo)
}
--- stdout
collapse.distal on 3 ranks

A(i, j) = B(j, i) * 0.5
  35 flop; at most 432 B of memory in a rank

                                     moved      moved      messages     home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local    fo      1           0 B        0 B             0     96 B    120 B
  B       local    fo      1           0 B        0 B             0     96 B    120 B
