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
# disk_rotation.distal on 4 ranks: 613 ms, at most 188464 B of memory in a rank
#
# A(i, j) = B_copy(i, k) * C(k, j)
#    time    moved  messages     disk    memory  computed on           data moves
#  613 ms  1.0 MiB       280  5.5 MiB  188464 B  grid(2, 2) over k, j  B copied in disk first; A accumulated; tiles of 86 of j, 3 of i
#  613 ms  1.0 MiB       280  5.5 MiB  188464 B  grid(2, 2) over i, k  C copied in disk first; A accumulated; tiles of 86 of i, 3 of j
#  664 ms  1.0 MiB       110  6.5 MiB  193616 B  grid(2, 2) over k, j  B copied in disk first; A accumulated; tiles of 74 of i, 11 of j
#  664 ms  1.0 MiB       112  6.5 MiB  193616 B  grid(2, 2) over i, k  C copied in disk first; A accumulated; tiles of 74 of j, 11 of i
#  664 ms  2.0 MiB       176  4.5 MiB  180224 B  grid(2, 2) over i, j  B, C shifted in 2 steps of k; tiles of 128 of i, 128 of j, 12 of k
#  664 ms  2.0 MiB       176  4.5 MiB  180224 B  grid(2, 2) over i, j  B, C shifted in 2 steps of k; tiles of 128 of j, 128 of i, 12 of k
#  666 ms  1.0 MiB       280  6.5 MiB  188464 B  grid(2, 2) over k, j  B, C copied in disk first; A accumulated; tiles of 86 of j, 3 of i
#  768 ms  1.0 MiB        59  6.5 MiB  196608 B  grid(2, 2) over i, j  B copied in disk first; C replicated; tiles of 64 of j, 24 of k

param n = 512
machine M = grid(2, 2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
tensor B_copy(n, n): f64
place A(x0, x1) -> M(x0, x1) in disk
place B(x0, x1) -> M(x0, x1) in disk
place C(x0, x1) -> M(x0, x1) in disk
place B_copy(x0, x1) -> M(x1, *) in disk

B_copy(x0, x1) = B(x0, x1)

schedule B_copy {
  distribute({x0, x1}, {x0o, x1o}, {x0i, x1i}, B)
  split(x0i, x0t, x0ii, 12)
  reorder({x0t, x0ii, x1i})
  communicate({B_copy, B}, x0t)
}

A(i, j) = B_copy(i, k) * C(k, j)

schedule A {
  distribute({k, j}, {ko, jo}, {ki, ji}, M)
  split(ji, jt, jii, 86)
  split(i, it, ii, 3)
  reorder({jt, it, ii, jii, ki})
  communicate(C, jt)
  communicate({A, B_copy}, it)
}
