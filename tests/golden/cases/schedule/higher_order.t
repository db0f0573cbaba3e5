# run: schedule {file} -n 12
--- program
tensor A(25, 27, 20, 21): f64
tensor B(25, 26, 20, 23): f64
tensor C(26, 27, 23, 21): f64
A(a, b, i, j) = B(a, c, i, k) * C(c, b, k, j)
--- stdout
# higher_order.distal on 12 ranks: 505 us, at most 2.0 MiB of memory in a rank
#
# A(a, b, i, j) = B(a, c, i, k) * C(c, b, k, j)
#    time     moved  messages   memory  computed on                 data moves
#  505 us  848432 B         4  2.0 MiB  grid(3, 2, 2) over b, i, c  at once
#  505 us  847872 B         4  2.3 MiB  grid(2, 3, 2) over i, j, c  at once
#  518 us  849872 B         4  2.4 MiB  grid(2, 3, 2) over i, j, k  at once
#  519 us  849312 B         4  2.0 MiB  grid(3, 2, 2) over b, i, k  at once
#  522 us  852696 B         4  2.4 MiB  grid(2, 3, 2) over a, j, c  at once
#  522 us  854776 B         4  2.4 MiB  grid(2, 3, 2) over a, b, c  at once
#  536 us  874432 B         4  2.5 MiB  grid(2, 3, 2) over a, j, k  at once
#  536 us  872352 B         4  2.5 MiB  grid(2, 3, 2) over a, b, k  at once

machine M = grid(3, 2, 2)
tensor A(25, 27, 20, 21): f64
tensor B(25, 26, 20, 23): f64
tensor C(26, 27, 23, 21): f64
place A(x0, x1, x2, x3) -> M(x1, x2, x0)
place B(x0, x1, x2, x3) -> M(x3, x2, x1)
place C(x0, x1, x2, x3) -> M(x1, x2, x0)

A(a, b, i, j) = B(a, c, i, k) * C(c, b, k, j)

schedule A {
  distribute({b, i, c}, {bo, io, co}, {bi, ii, ci}, M)
}
