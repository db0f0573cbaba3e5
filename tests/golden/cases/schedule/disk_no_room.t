# No room on the disks for a copy.
# run: schedule {file} -n 4 --machine slow.machine --memory-limit 24K
--- program
param n = 203, m = 301, l = 97
tensor A(n, m): f64
tensor B(n, l): f64
tensor C(l, m): f64
A(i, j) = B(i, k) * C(k, j)
--- file slow.machine
machine "disks that are faster than the network"
level node 64 memory 64GiB copy 10GB/s latency 1us bandwidth 5MB/s
rate gemm 10GFLOP/s
disk read 1GB/s
disk space 500kB
--- stdout
# disk_no_room.distal on 4 ranks: 26.4 ms, at most 24072 B of memory in a rank
# tensors are in disk: no schedule was found that keeps them in memory within the limit
#
# A(i, j) = B_copy(i, k) * C(k, j)
#     time     moved  messages       disk   memory  computed on     data moves
#  26.4 ms   52768 B        26  1002880 B  24072 B  grid(3) over j  B copied in disk first; tiles of 51 of i, 51 of j, 4 of k
#  26.4 ms   52768 B        26  1002880 B  24072 B  grid(3) over j  B copied in disk first; tiles of 51 of j, 51 of i, 4 of k
#  26.5 ms  105536 B        16    1.2 MiB  15352 B  grid(3) over j  B replicated; tiles of 49 of k, 23 of i, 11 of j
#  26.7 ms  105536 B        16    1.3 MiB  15352 B  grid(3) over j  C copied in disk first; B replicated; tiles of 49 of k, 23 of i, 11 of j
#  26.7 ms  105536 B       117    1.0 MiB  23032 B  grid(3) over j  B replicated; tiles of 19 of i, 8 of k
#  26.8 ms  105536 B       117    1.2 MiB  23032 B  grid(3) over j  C copied in disk first; B replicated; tiles of 19 of i, 8 of k
#  27.2 ms  105536 B       188    1.2 MiB  23224 B  grid(3) over j  B replicated; tiles of 25 of k, 3 of i
#  35.5 ms  118728 B       136   575832 B  22672 B  grid(4) over j  B replicated; tiles of 29 of i, 6 of k

param n = 203, m = 301, l = 97
machine M = grid(3)
machine M2 = grid(4)
tensor A(n, m): f64
tensor B(n, l): f64
tensor C(l, m): f64
tensor B_copy(n, l): f64
place A(x0, x1) -> M(x1) in disk
place B(x0, x1) -> M(x0) in disk
place C(x0, x1) -> M(x1) in disk
place B_copy(x0, x1) -> M(*) in disk

B_copy(x0, x1) = B(x0, x1)

schedule B_copy {
  distribute({x0}, {x0o}, {x0i}, B)
  split(x0i, x0t, x0ii, 51)
  split(x1, x1t, x1i, 8)
  reorder({x0t, x1t, x0ii, x1i})
  communicate({B_copy, B}, x1t)
}

A(i, j) = B_copy(i, k) * C(k, j)

schedule A {
  distribute({j}, {jo}, {ji}, M)
  split(i, it, ii, 51)
  split(ji, jt, jii, 51)
  split(k, kt, ki, 4)
  reorder({it, jt, kt, ii, jii, ki})
  communicate(A, jt)
  communicate({B_copy, C}, kt)
}
