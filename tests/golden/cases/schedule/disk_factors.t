# Products of several factors that memory does not hold: of pairs, with tensors for what is between them, and in one nest.
# run: schedule {file} -n 4 --memory-limit 90000
--- program
param n = 40, m = 20
tensor R(m, m, n): f64
tensor T(n, n, n): f64
tensor C(n, m): f64
tensor D(n, m): f64
tensor A(m, m): f64
R(a, b, k) = T(i, j, k) * C(i, a) * D(j, b)
A(a, b) = R(a, c, k) * D(k, c) * C(k, b)
--- stdout
# disk_factors.distal on 4 ranks: 865 us, at most 84800 B of memory in a rank
# tensors are in disk: no schedule was found that keeps them in memory within the limit
#
# W(b, i, k) = T(i, j, k) * D(j, b)
#    time     moved  messages      disk    memory  computed on           data moves
#  524 us    4800 B         3  193600 B   84800 B  grid(4) over k        D replicated; tiles of 14 of i
#  569 us    1600 B         1  206400 B   83200 B  grid(4) over k        D copied in disk first; tiles of 14 of i
#  570 us  131200 B        18  193600 B   68800 B  grid(2, 2) over k, j  D replicated; W accumulated; tiles of 5 of i
#  612 us  148800 B        63  193600 B   56000 B  grid(4) over i        D replicated; tiles of 1 of i
#  523 us    4800 B         3  193600 B  209600 B  -                     no schedule: more than the limit
#
# R(a, b, k) = W(b, i, k) * C(i, a)
#    time    moved  messages     disk    memory  computed on           data moves
#  260 us      0 B         0  96000 B   57600 B  grid(4) over k        C replicated; tiles of 10 of b
#  279 us  64000 B         6  96000 B   88000 B  grid(2, 2) over k, i  C replicated; R accumulated; tiles of 7 of b
#  286 us  96000 B         6  96000 B   82560 B  grid(3) over k        C replicated; tiles of 7 of b
#  290 us  72000 B        18  96000 B   86400 B  grid(4) over b        C replicated; tiles of 2 of b
#  259 us      0 B         0  96000 B  105600 B  -                     no schedule: more than the limit
#
# W2(a, k) = R(a, c, k) * D(k, c)
#     time    moved  messages     disk   memory  computed on           data moves
#  74.2 us      0 B         0  35200 B  44800 B  -                     no schedule
#  74.2 us      0 B         0  35200 B  44800 B  grid(4) over k        at once
#  80.6 us  18400 B         3  35200 B  68000 B  grid(2, 2) over k, c  W2 accumulated; at once
#    84 us  35200 B         3  35200 B  78080 B  grid(3) over k        at once
#  88.2 us  36800 B         6  35200 B  80000 B  grid(2, 2) over a, k  D replicated; at once
#
# A(a, b) = W2(a, k) * C(k, b)
#     time   moved  messages    disk   memory  computed on           data moves
#  6.78 us  3200 B         1  1600 B  11200 B  grid(4) over k        A accumulated; at once
#  7.44 us  3200 B         3  1600 B  13600 B  grid(2, 2) over a, k  C replicated; A accumulated; at once
#  7.83 us  4800 B         3  1600 B  16000 B  -                     no schedule
#     8 us  4800 B         2  1600 B  12800 B  grid(3) over k        A accumulated; at once
#  8.98 us  4800 B         3  1600 B  16000 B  grid(2, 2) over b, k  W2 replicated; A accumulated; at once

param n = 40, m = 20
machine M = grid(4)
tensor R(m, m, n): f64
tensor T(n, n, n): f64
tensor C(n, m): f64
tensor D(n, m): f64
tensor A(m, m): f64
tensor W(m, n, n): f64
tensor W2(m, n): f64
place R(x0, x1, x2) -> M(x2) in disk
place T(x0, x1, x2) -> M(x2) in disk
place C(x0, x1) -> M(*)
place D(x0, x1) -> M(x0) in disk
place A(x0, x1) -> M(0)
place W(x0, x1, x2) -> M(x2) in disk
place W2(x0, x1) -> M(x1) in disk

W(b, i, k) = T(i, j, k) * D(j, b)

schedule W {
  distribute({k}, {ko}, {ki}, M)
  split(i, it, ii, 14)
  reorder({it, b, ii, ki, j})
  communicate({W, T}, it)
}

R(a, b, k) = W(b, i, k) * C(i, a)

schedule R {
  distribute({k}, {ko}, {ki}, M)
  split(b, bt, bi, 10)
  reorder({bt, a, bi, ki, i})
  communicate({R, W}, bt)
}

W2(a, k) = R(a, c, k) * D(k, c)

A(a, b) = W2(a, k) * C(k, b)

schedule A {
  distribute({k}, {ko}, {ki}, M)
}
