# run: explain --stop-after plan {file}
--- program
# Cannon's algorithm: matrix multiplication on a g x g grid, where the tiles of B and C are shifted along their rows
# and columns one place a step (Cannon, 1969; DISTAL, figure 9).
# A is m x n, B is m x q, C is q x n; `-p n=N` alone makes all of them square. A grid that is not square
# (gx, gy) is right as well, but its tiles do not meet: they are gathered from wherever they are.
param n = 960, m = n, q = n, g = 2, gx = g, gy = g

machine M = grid(gx, gy)

tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64

place A(x, y) -> M(x, y)
place B(x, y) -> M(x, y)
place C(x, y) -> M(x, y)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  divide(k, ko, ki, gx)
  reorder({ko, ii, ji, ki})
  rotate(ko, {io, jo}, kos)
  communicate(A, jo)
  communicate({B, C}, kos)
}
--- stdout
plan.distal on 4 ranks

A(i, j) = B(i, k) * C(k, j)
  1769472000 flop; at most 12.3 MiB of memory in a rank

                                      moved      moved      messages     home  buffers
  tensor  pattern  at   steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local    jo       1           0 B        0 B             0  1.8 MiB      0 B
  B       shift    kos      2       1.8 MiB    7.0 MiB             1  1.8 MiB  3.5 MiB
  C       shift    kos      2       1.8 MiB    7.0 MiB             1  1.8 MiB  3.5 MiB
