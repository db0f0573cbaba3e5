# A program without a machine, placements and schedules.
# run: schedule {file} -n 6
--- program
param m = 601, n = 397, q = 853
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64
A(i, j) = B(i, k) * C(k, j)
--- stdout
# product.distal on 6 ranks: 577 us, at most 4.1 MiB of memory in a rank
#
# A(i, j) = B(i, k) * C(k, j)
#    time    moved  messages   memory  computed on           data moves
#  577 us  1.0 MiB         3  4.1 MiB  grid(2, 3) over i, k  at once
#  591 us  1.2 MiB         3  3.9 MiB  grid(3, 2) over i, k  at once
#  622 us  1.2 MiB         7  3.0 MiB  grid(3, 2) over i, k  C in chunks of 143 of k
#  638 us  1.3 MiB         3  3.6 MiB  grid(2, 3) over j, k  at once
#  644 us  1.5 MiB         3  4.0 MiB  grid(3, 2) over i, j  at once
#  658 us  1.0 MiB         7  2.8 MiB  grid(2, 3) over i, k  A in chunks of 101 of i
#  671 us  1.3 MiB         5  2.7 MiB  grid(2, 3) over j, k  B in chunks of 95 of k
#  685 us  1.5 MiB         5  3.1 MiB  grid(3, 2) over i, j  B in chunks of 67 of i

param m = 601, n = 397, q = 853
machine M = grid(2, 3)
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64
place A(x0, x1) -> M(x0, x1)
place B(x0, x1) -> M(x0, x1)
place C(x0, x1) -> M(x1, x0)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, k}, {io, ko}, {ii, ki}, M)
}
