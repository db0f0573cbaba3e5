# run: schedule {file} -n 12
--- program
tensor A(25, 27, 20, 21): f64
tensor B(25, 26, 20, 23): f64
tensor C(26, 27, 23, 21): f64
A(a, b, i, j) = B(a, c, i, k) * C(c, b, k, j)
--- stdout
# higher_order.distal on 12 ranks: 588 us, at most 2.3 MiB of memory in a rank
#
# A(a, b, i, j) = B(a, c, i, k) * C(c, b, k, j)
#    time     moved  messages   memory  computed on                 data moves
#  588 us  840872 B         4  2.3 MiB  grid(3, 2, 2) over b, i, c  at once
#  588 us  840872 B         4  2.3 MiB  grid(2, 2, 3) over i, c, b  at once
#  588 us  840872 B         4  2.3 MiB  grid(2, 2, 3) over i, c, j  at once
#  588 us  840872 B         4  2.3 MiB  grid(3, 2, 2) over j, i, c  at once
#  589 us  847872 B         4  2.3 MiB  grid(2, 2, 3) over c, i, j  at once
#  589 us  847872 B         4  2.3 MiB  grid(2, 3, 2) over c, j, i  at once
#  589 us  847872 B         4  2.3 MiB  grid(2, 3, 2) over i, j, c  at once
#  589 us  847872 B         4  2.3 MiB  grid(3, 2, 2) over j, c, i  at once

machine M = grid(3, 2, 2)
machine M2 = grid(3, 4)
tensor A(25, 27, 20, 21): f64
tensor B(25, 26, 20, 23): f64
tensor C(26, 27, 23, 21): f64
place A(x0, x1, x2, x3) -> M2(x1, x2)
place B(x0, x1, x2, x3) -> M(x3, x2, x1)
place C(x0, x1, x2, x3) -> M(x1, x2, x0)

A(a, b, i, j) = B(a, c, i, k) * C(c, b, k, j)

schedule A {
  distribute({b, i, c}, {bo, io, co}, {bi, ii, ci}, M)
}
