# Nothing is placed, and memory does not hold the tensors.
# run: schedule {file} -n 2 --memory-limit 1M
--- program
param n = 601
tensor A(n, n): f64
tensor B(n, n): f64
tensor x(n): f64
tensor y(n): f64
tensor C(n, n): f64
A(i, j) = B(i, k) * C(k, j)
y(i) = A(i, j) * x(j)
--- stdout
# disk_spilled.distal on 2 ranks: 9.69 ms, at most 939112 B of memory in a rank
# tensors are in disk: no schedule was found that keeps them in memory within the limit
#
# A(i, j) = B(i, k) * C(k, j)
#     time    moved  messages     disk     memory  computed on     data moves
#  8.24 ms  1.4 MiB        14  5.5 MiB   939112 B  grid(2) over i  C replicated; tiles of 301 of j, 43 of k
#  8.46 ms  2.8 MiB        56  5.5 MiB  1020792 B  grid(2) over k  A accumulated; tiles of 301 of j, 24 of i
#  8.99 ms  2.8 MiB        42  5.5 MiB   907688 B  grid(2) over i  C replicated; tiles of 151 of i, 29 of j
#  12.5 ms  5.5 MiB       112  8.3 MiB   900624 B  grid(2) over j  B replicated; tiles of 151 of j, 201 of i, 41 of k
#  12.5 ms  5.5 MiB       112  8.3 MiB   900624 B  grid(2) over j  B replicated; tiles of 201 of i, 151 of j, 41 of k
#  6.32 ms  1.4 MiB         1  4.1 MiB    6.9 MiB  -               no schedule: more than the limit
#
# y(i) = A(i, j) * x(j)
#     time     moved  messages     disk    memory  computed on     data moves
#  1.46 ms       0 B         0  1.4 MiB  732024 B  grid(2) over i  x replicated; tiles of 301 of j
#  1.61 ms  724808 B         4  1.4 MiB  740840 B  grid(2) over j  y accumulated; tiles of 101 of j
#   5.8 ms       0 B         0  4.1 MiB  732024 B  grid(2) over i  A copied in disk first; x replicated; tiles of 301 of j
#  5.95 ms  724808 B         7  4.1 MiB  738032 B  grid(2) over j  A copied in disk first; y accumulated; tiles of 151 of j
#  1.46 ms       0 B         0  1.4 MiB   1.4 MiB  -               no schedule: more than the limit

param n = 601
machine M = grid(2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor x(n): f64
tensor y(n): f64
tensor C(n, n): f64
place A(x0, x1) -> M(x0) in disk
place B(x0, x1) -> M(x0) in disk
place x(x0) -> M(*)
place y(x0) -> M(x0)
place C(x0, x1) -> M(x0) in disk

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i}, {io}, {ii}, M)
  split(j, jt, ji, 301)
  split(k, kt, ki, 43)
  reorder({jt, kt, ii, ji, ki})
  communicate(A, jt)
  communicate({B, C}, kt)
}

y(i) = A(i, j) * x(j)

schedule y {
  distribute({i}, {io}, {ii}, M)
  split(j, jt, ji, 301)
  reorder({jt, ii, ji})
  communicate(A, jt)
}
