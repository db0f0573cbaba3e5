# run: schedule {file} -n 3
--- program
machine L = node grid(3), core grid(2)
tensor A(90, 90): f64
tensor B(90, 90): f64
place A(x, y) -> L.node(x), A(x, y) -> L.core(cyclic(y, 4))
A(i, j) = 2 * B(j, i)
--- stdout
# placed_nowhere_fits.distal on 3 ranks: 1.51 us, at most 64800 B of memory in a rank
#
# A(i, j) = 2 * B(j, i)
#     time    moved  messages   memory  computed on     data moves
#  1.51 us      0 B         0  64800 B  grid(3) over i  at once
#  1.59 us      0 B         0  54240 B  -               no schedule
#   2.4 us      0 B         0  50400 B  grid(3) over i  A in chunks of 10 of i
#   2.4 us      0 B         0  50400 B  grid(3) over i  A in chunks of 30 of j
#  7.22 us  14400 B         2  57600 B  grid(3) over i  A, B in chunks of 30 of j
#  7.99 us  14400 B         4  79200 B  grid(3) over j  at once
#  8.39 us  21600 B         2  97200 B  grid(2) over i  at once
#  8.88 us  14400 B         4  64800 B  grid(3) over j  A in chunks of 30 of i

machine L = node grid(3), core grid(2)
machine M = grid(3)
tensor A(90, 90): f64
tensor B(90, 90): f64
place A(x0, x1) -> L.node(x0), A(x0, x1) -> L.core(cyclic(x1, 4))
place B(x0, x1) -> M(x1)

A(i, j) = 2 * B(j, i)

schedule A {
  distribute({i}, {io}, {ii}, M)
}
