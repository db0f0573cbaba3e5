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
# machine_flat.distal on 12 ranks: 433 us, at most 1.9 MiB of memory in a rank
#
# A(i, j) = B(i, k) * C(k, j)
#    time     moved  messages   memory  computed on                 data moves
#  433 us  947536 B         8  1.9 MiB  grid(4, 3) over i, j        at once
#  444 us  961000 B         9  1.9 MiB  grid(3, 4) over i, j        at once
#  451 us  928000 B         7  1.6 MiB  grid(3, 2, 2) over i, j, k  at once
#  459 us  953536 B        10  2.2 MiB  grid(2, 3, 2) over i, j, k  at once
#  475 us  928000 B        17  1.3 MiB  grid(3, 2, 2) over i, j, k  A, C in chunks of 84 of j
#  476 us  928000 B        13  1.4 MiB  grid(3, 2, 2) over i, j, k  B, C in chunks of 84 of k
#  482 us  846000 B         6  1.6 MiB  grid(4, 3) over i, k        at once
#  483 us  953536 B        14  1.7 MiB  grid(2, 3, 2) over i, j, k  A, B in chunks of 84 of i

param n = 500, p = 12
machine R = grid(p)
machine M = grid(4, 3)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x0, x1) -> R(x0)
place B(x0, x1) -> M(x0, x1)
place C(x0, x1) -> M(x0, x1)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j}, {io, jo}, {ii, ji}, M)
}
