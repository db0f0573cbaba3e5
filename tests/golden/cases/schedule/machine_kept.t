# A machine with several dimensions is the grid of all statements, and tensors that are placed stay.
# run: schedule {file}
--- program
param n = 500, gx = 2, gy = 3
machine M = grid(gx, gy)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x, y) -> M(y, x)
A(i, j) = B(i, k) * C(k, j)
--- stdout
# machine_kept.distal on 6 ranks: 465 us, at most 2.5 MiB of memory in a rank
#
# A(i, j) = B(i, k) * C(k, j)
#    time      moved  messages   memory  computed on           data moves
#  465 us  1000000 B         3  2.5 MiB  grid(2, 3) over j, k  at once
#  471 us    1.3 MiB         4  2.5 MiB  grid(2, 3) over j, i  B, C shifted in 2 steps of k
#  472 us  1000000 B         3  2.5 MiB  -                     no schedule
#  472 us  1000000 B         3  2.5 MiB  grid(2, 3) over j, i  at once
#  473 us    1.3 MiB         7  2.0 MiB  grid(2, 3) over j, i  B, C shifted in 3 steps of k
#  517 us  1000000 B         3  3.2 MiB  grid(2, 3) over k, i  at once
#  530 us  1000000 B         4  1.7 MiB  grid(2, 3) over k, i  A, C in chunks of 167 of j
#  536 us  1000000 B         7  2.0 MiB  grid(2, 3) over j, k  A in chunks of 84 of j

param n = 500, gx = 2, gy = 3
machine M = grid(gx, gy)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x0, x1) -> M(x1, x0)
place B(x0, x1) -> M(x0, x1)
place C(x0, x1) -> M(x1, x0)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({j, k}, {jo, ko}, {ji, ki}, M)
}
