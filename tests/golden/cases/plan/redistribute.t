# run: plan {file}
--- program
# Redistribution as a statement: B by rows becomes A by columns. There is no schedule: the work goes where A
# lies, and each process receives what it does not have.
# B is m x n; `-p n=N` alone makes it square.
param n = 2000, m = n, p = 4

machine M = grid(p)

tensor A(m, n): f64
tensor B(m, n): f64

place A(x, y) -> M(y)
place B(x, y) -> M(x)

A(i, j) = B(i, j)
--- stdout
redistribute.distal on 4 ranks

A(i, j) = B(i, j)
  0 flop; at most 22.9 MiB of memory in a rank

                                      moved      moved      messages     home  buffers
  tensor  pattern   at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local     jo      1           0 B        0 B             0  7.6 MiB      0 B
  B       exchange  jo      1       5.7 MiB   22.9 MiB             3  7.6 MiB  7.6 MiB
