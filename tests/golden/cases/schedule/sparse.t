# run: schedule {file} -n 4 --in B=rmat:1:10:8000
# A matrix with rows of very different lengths: its entries are balanced.
--- program
param n = 1024
tensor y(n): f64
tensor B(n, n): f64, csr
tensor x(n): f64
y(i) = B(i, j) * x(j)
--- stdout
# sparse.distal on 4 ranks: 0.731 us, at most 35732 B of memory in a rank
#
# y(i) = B(i, j) * x(j)
#      time   moved  messages    memory  computed on               data moves
#  0.731 us     0 B         0   35732 B  grid(4) over weighted(i)  at once
#   1.02 us     0 B         0   54656 B  grid(4) over i            at once
#   1.15 us     0 B         0   66460 B  grid(3) over i            at once
#   1.59 us     0 B         0  102908 B  -                         no schedule, on one rank
#   2.52 us  2048 B         1   56500 B  grid(2, 2) over i, j      at once
#    3.2 us  2648 B         2   37972 B  grid(4) over ~fuse(i, j)  at once
#   5.26 us  8192 B         1   39500 B  grid(4) over weighted(j)  at once
#   5.52 us  8192 B         1   61208 B  grid(4) over j            at once

param n = 1024
machine M = grid(4)
tensor y(n): f64
tensor B(n, n): f64, {dense, compressed}
tensor x(n): f64
place B(x0, x1) -> M(weighted(x0))
place x(x0) -> M(*)
place y(x0) -> M(weighted(x0, B))

y(i) = B(i, j) * x(j)
