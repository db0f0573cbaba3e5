# run: schedule {file} -n 6 --machine m.machine
# Which entries the operands have is not known. A result with the structure of one has its entries.
--- program
param n = 300, r = 32
tensor A(n, n): f64, csr
tensor B(n, n): f64, csr
tensor C(n, r): f64
tensor D(r, n): f64
tensor E(n, r): f64
A(i, j) = B(i, j) * C(i, k) * D(k, j)
E(i, k) = A(i, j) * C(j, k)
--- file m.machine
machine "slow processors"
level node 4 memory 64GiB copy 10GB/s latency 0.1us bandwidth 10GB/s
rate gemm 10GFLOP/s
rate sparse 0.1GFLOP/s
--- stdout
# sparse_assumed.distal on 6 ranks: 154 us, at most 213644 B of memory in a rank
# entries of B are not known: 2947 are assumed, spread evenly
#
# A(i, j) = B(i, j) * C(i, k) * D(k, j)
#     time    moved  messages    memory  computed on           data moves
#  75.9 us  49920 B         5  213388 B  grid(3, 2) over i, j  at once
#  78.8 us  51200 B         4  113548 B  grid(3, 2) over i, j  C, D shifted in 2 steps of k
#  88.9 us  74464 B         6  174224 B  grid(6) over i        C, D shifted in 2 steps of k
#  92.5 us  65632 B         8  290912 B  grid(6) over i        at once
#   101 us  51200 B        10   71688 B  grid(3, 2) over i, j  C, D in chunks of 11 of k
#   118 us  33216 B         4  219552 B  grid(3, 2) over i, k  at once
#   123 us  41344 B        12  229280 B  grid(3, 2) over j, k  at once
#   134 us  33984 B         8  146400 B  grid(3, 2) over i, k  D in chunks of 6 of k
#
# E(i, k) = A(i, j) * C(j, k)
#     time    moved  messages    memory  computed on           data moves
#  78.1 us  49920 B         5  209508 B  grid(3, 2) over i, j  at once
#  83.2 us  63600 B         7  258512 B  grid(6) over i        at once
#  88.5 us  29024 B         3  171112 B  grid(3, 2) over i, k  at once
#  99.5 us  51200 B        10   76296 B  grid(3, 2) over i, j  E, C in chunks of 11 of k
#  99.6 us  61600 B         8  212072 B  grid(2, 3) over i, j  at once
#   104 us  29792 B         7   97960 B  grid(3, 2) over i, k  C in chunks of 6 of k
#   118 us  61600 B        13  102632 B  grid(2, 3) over i, j  E, C in chunks of 11 of k
#   133 us  72432 B        23   84224 B  grid(6) over i        E, C in chunks of 6 of k

param n = 300, r = 32
machine M = grid(3, 2)
tensor A(n, n): f64, {dense, compressed}
tensor B(n, n): f64, {dense, compressed}
tensor C(n, r): f64
tensor D(r, n): f64
tensor E(n, r): f64
place A(x0, x1) -> M(x0, x1)
place B(x0, x1) -> M(x0, x1)
place C(x0, x1) -> M(x0, x1)
place D(x0, x1) -> M(x1, x0)
place E(x0, x1) -> M(x0, x1)

A(i, j) = B(i, j) * C(i, k) * D(k, j)

schedule A {
  distribute({i, j}, {io, jo}, {ii, ji}, M)
}

E(i, k) = A(i, j) * C(j, k)

schedule E {
  distribute({i, j}, {io, jo}, {ii, ji}, M)
}
