# Where operands lie on one layer of the grid, each layer takes its share of the steps, as in the 2.5D algorithm.
# run: schedule {file}
--- program
param n = 1001, g = 4, c = 2
machine M = grid(g, g, c)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x, y) -> M(x, y, 0)
place B(x, y) -> M(x, y, 0)
place C(x, y) -> M(x, y, 0)
A(i, j) = B(i, k) * C(k, j)
--- stdout
# layers.distal on 32 ranks: 2 ms, at most 3.8 MiB of memory in a rank
#
# A(i, j) = B(i, k) * C(k, j)
#     time    moved  messages   memory  computed on                 data moves
#     2 ms  2.4 MiB         7  3.8 MiB  grid(4, 4, 2) over i, j, k  B, C shifted in 2 steps of k
#  2.27 ms  2.4 MiB         7  3.8 MiB  grid(4, 4, 2) over i, j, k  at once
#  2.41 ms  2.4 MiB        11  2.4 MiB  grid(4, 4, 2) over i, j, k  B, C in chunks of 126 of k
#  2.43 ms  2.4 MiB         7  3.4 MiB  grid(4, 4, 2) over k, j, i  at once
#  2.43 ms  2.4 MiB         7  4.3 MiB  grid(4, 4, 2) over i, k, j  at once
#  2.48 ms  2.4 MiB         7  3.8 MiB  grid(4, 4, 2) over j, k, i  at once
#  2.51 ms  2.4 MiB        19  2.8 MiB  grid(4, 4, 2) over i, j, k  A, B in chunks of 63 of i
#  2.57 ms  2.4 MiB        11  2.4 MiB  grid(4, 4, 2) over i, k, j  A, C in chunks of 126 of j

param n = 1001, g = 4, c = 2
machine M = grid(g, g, c)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x0, x1) -> M(x0, x1, 0)
place B(x0, x1) -> M(x0, x1, 0)
place C(x0, x1) -> M(x0, x1, 0)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
  divide(ki, kio, kii, 2)
  reorder({kio, ii, ji, kii})
  rotate(kio, {io, jo}, kios)
  communicate({B, C}, kios)
}
