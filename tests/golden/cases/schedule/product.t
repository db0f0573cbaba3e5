# A program without a machine, placements and schedules.
# run: schedule {file} -n 6
--- program
param m = 601, n = 397, q = 853
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64
A(i, j) = B(i, k) * C(k, j)
--- stdout
# product.distal on 6 ranks: 638 us, at most 3.6 MiB of memory in a rank
#
# A(i, j) = B(i, k) * C(k, j)
#    time    moved  messages   memory  computed on           data moves
#  638 us  1.3 MiB         3  3.6 MiB  grid(2, 3) over j, k  at once
#  668 us  1.0 MiB         3  4.1 MiB  grid(2, 3) over i, k  at once
#  686 us  1.2 MiB         3  3.9 MiB  grid(3, 2) over i, k  at once
#  693 us  1.6 MiB         3  4.0 MiB  grid(3, 2) over j, k  at once
#  713 us  1.2 MiB         4  2.2 MiB  grid(3, 2) over i, k  A, C in chunks of 133 of j
#  721 us  1.2 MiB         7  3.0 MiB  grid(3, 2) over i, k  C in chunks of 143 of k
#  732 us  1.9 MiB         4  4.0 MiB  grid(3, 2) over i, j  B, C shifted in 2 steps of k
#  743 us  1.0 MiB         4  2.0 MiB  grid(2, 3) over i, k  A, C in chunks of 133 of j

param m = 601, n = 397, q = 853
machine M = grid(2, 3)
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64
place A(x0, x1) -> M(x1, x0)
place B(x0, x1) -> M(x0, x1)
place C(x0, x1) -> M(x1, x0)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({j, k}, {jo, ko}, {ji, ki}, M)
}
