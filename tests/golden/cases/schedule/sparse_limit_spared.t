# Where x on all ranks needs too much memory, in 136648 B, it is in blocks.
# run: schedule {file} -n 12 --in B=stencil:27 --memory-limit 130000
--- program
param n = 4096
tensor y(n): f64
tensor B(n, n): f64, csr
tensor x(n): f64
y(i) = B(i, j) * x(j)
--- stdout
# sparse_limit_spared.distal on 12 ranks: 10.7 us, at most 125900 B of memory in a rank
#
# y(i) = B(i, j) * x(j)
#     time    moved  messages    memory  computed on                data moves
#  10.7 us   7352 B         1  125900 B  grid(11) over i            at once
#  10.1 us   7048 B         1  143544 B  grid(12) over weighted(i)  at once: more than the limit
#  10.8 us   7104 B         1  135092 B  grid(12) over i            at once: more than the limit
#  11.5 us   7456 B         2  139448 B  grid(12) over ~fuse(i, j)  at once: more than the limit
#  15.7 us  15296 B         2  228300 B  grid(6, 2) over i, j       at once: more than the limit
#  20.9 us  18432 B         2  306632 B  grid(4, 3) over i, j       at once: more than the limit
#    22 us  19104 B         2  309368 B  grid(3, 4) over i, j       at once: more than the limit
#  22.4 us  21848 B         2  240308 B  grid(2, 6) over i, j       at once: more than the limit

param n = 4096
machine M = grid(12)
machine M2 = grid(11)
tensor y(n): f64
tensor B(n, n): f64, {dense, compressed}
tensor x(n): f64
place y(x0) -> M2(x0)
place B(x0, x1) -> M2(x0)
place x(x0) -> M2(0)

y(i) = B(i, j) * x(j)

schedule y {
  distribute({i}, {io}, {ii}, M2)
}
