# Of a machine with one dimension all grids are looked for; it stays where a tensor is placed on it.
# run: schedule {file}
--- program
param n = 500, p = 12
machine R = grid(p)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x, y) -> R(x)
A(i, j) = B(i, k) * C(k, j)
--- stdout
# machine_flat.distal on 12 ranks: 462 us, at most 1.7 MiB of memory in a rank
#
# A(i, j) = B(i, k) * C(k, j)
#    time     moved  messages   memory  computed on                 data moves
#  462 us  919000 B         8  1.7 MiB  grid(3, 2, 2) over i, k, j  B, C shifted in 2 steps of k
#  483 us  922000 B         6  1.6 MiB  grid(3, 2, 2) over i, k, j  at once
#  485 us  928000 B         7  1.6 MiB  grid(3, 2, 2) over i, j, k  at once
#  488 us  835344 B        11  1.8 MiB  grid(2, 2, 3) over k, i, j  at once
#  501 us  960000 B        14  1.8 MiB  grid(4, 3) over j, k        at once
#  507 us  922000 B        16  1.3 MiB  grid(3, 2, 2) over i, k, j  A, C in chunks of 84 of j
#  508 us  922000 B         9  1.4 MiB  grid(3, 2, 2) over i, k, j  B, C in chunks of 84 of k
#  511 us  835344 B        14  1.2 MiB  grid(2, 2, 3) over k, i, j  A, B in chunks of 84 of i

param n = 500, p = 12
machine R = grid(p)
machine M = grid(3, 2, 2)
machine M2 = grid(3, 4)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x0, x1) -> R(x0)
place B(x0, x1) -> M2(x0, x1)
place C(x0, x1) -> M2(x1, x0)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, k, j}, {io, ko, jo}, {ii, ki, ji}, M)
  divide(ki, kio, kii, 2)
  reorder({kio, ii, ji, kii})
  rotate(kio, {io, jo}, kios)
  communicate({B, C}, kios)
}
