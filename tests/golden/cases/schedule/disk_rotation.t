# Where the network is slow beside the disks and operands lie on a grid, their parts are shifted.
# run: schedule {file} --memory-limit 200K --machine slow.machine
--- program
param n = 512
machine M = grid(2, 2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x, y) -> M(x, y) in disk
place B(x, y) -> M(x, y) in disk
place C(x, y) -> M(x, y) in disk
A(i, j) = B(i, k) * C(k, j)
--- file slow.machine
machine "slow network"
level node 64 memory 1GiB copy 10GB/s latency 10us bandwidth 5MB/s
ranks 1
rate gemm 10GFLOP/s
disk read 20MB/s
--- stdout
# disk_rotation.distal on 4 ranks: 664 ms, at most 180224 B of memory in a rank
#
# A(i, j) = B(i, k) * C(k, j)
#    time    moved  messages     disk    memory  computed on           data moves
#  664 ms  2.0 MiB       176  4.5 MiB  180224 B  grid(2, 2) over i, j  B, C shifted in 2 steps of k; tiles of 128 of i, 128 of j, 12 of k
#  664 ms  2.0 MiB       176  4.5 MiB  180224 B  grid(2, 2) over i, j  B, C shifted in 2 steps of k; tiles of 128 of j, 128 of i, 12 of k
#  821 ms  2.0 MiB       136  5.5 MiB  201952 B  grid(2, 2) over k, j  B replicated; A accumulated; tiles of 128 of k, 74 of i, 18 of j
#  821 ms  2.0 MiB       136  5.5 MiB  201952 B  grid(2, 2) over k, j  B replicated; A accumulated; tiles of 74 of i, 128 of k, 18 of j
#  847 ms  1.5 MiB       143  8.0 MiB  198528 B  grid(2, 2) over k, j  B replicated; A accumulated; tiles of 37 of i, 16 of j
#  978 ms  2.0 MiB        80  2.5 MiB  186368 B  grid(2, 2) over i, j  B, C replicated; tiles of 128 of i, 128 of j, 27 of k
#  978 ms  2.0 MiB        80  2.5 MiB  186368 B  grid(2, 2) over i, j  B, C replicated; tiles of 128 of j, 128 of i, 27 of k
#  1.22 s  2.5 MiB       152  3.0 MiB  166912 B  grid(2, 2) over i, j  B, C replicated; tiles of 64 of j, 14 of k

param n = 512
machine M = grid(2, 2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x0, x1) -> M(x0, x1) in disk
place B(x0, x1) -> M(x0, x1) in disk
place C(x0, x1) -> M(x0, x1) in disk

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  divide(k, ko, ki, 2)
  split(ii, it, iii, 128)
  split(ji, jt, jii, 128)
  split(ki, kt, kii, 12)
  reorder({it, jt, kt, ko, iii, jii, kii})
  rotate(ko, {io, jo}, kos)
  communicate(A, jt)
  communicate({B, C}, kos)
}
