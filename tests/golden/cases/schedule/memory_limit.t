# Data moves in chunks that keep the limit.
# run: schedule {file} -n 4 --memory-limit 2900K
--- program
param m = 601, n = 397, q = 853
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64
A(i, j) = B(i, k) * C(k, j)
--- stdout
# memory_limit.distal on 4 ranks: 737 us, at most 2.6 MiB of memory in a rank
#
# A(i, j) = B(i, k) * C(k, j)
#     time    moved  messages   memory  computed on           data moves
#   737 us  1.1 MiB         8  2.6 MiB  grid(2, 2) over i, k  A, C in chunks of 67 of j
#   810 us  1.4 MiB        14  2.5 MiB  grid(4) over k        A in chunks of 76 of i
#   845 us  1.4 MiB        14  2.5 MiB  grid(4) over k        A in chunks of 50 of j
#   895 us  1.9 MiB         8  2.7 MiB  grid(4) over i        C in chunks of 214 of k
#   896 us  1.4 MiB        10  2.6 MiB  grid(2, 2) over j, k  A, B in chunks of 78 of i
#   909 us  1.9 MiB         8  2.7 MiB  grid(4) over i        C in chunks of 100 of j
#  1.04 ms  1.6 MiB         6  2.8 MiB  grid(2, 2) over i, j  B, C in chunks of 195 of k
#   1.4 ms  1.2 MiB        26  2.8 MiB  grid(3) over k        A in chunks of 17 of i

param m = 601, n = 397, q = 853
machine M = grid(2, 2)
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64
place A(x0, x1) -> M(x0, x1)
place B(x0, x1) -> M(x0, x1)
place C(x0, x1) -> M(x1, x0)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, k}, {io, ko}, {ii, ki}, M)
  split(j, jo, ji, 67)
  reorder({jo, ii, ji, ki})
  communicate({A, C}, jo)
}
