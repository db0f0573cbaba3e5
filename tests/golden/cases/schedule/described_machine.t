# The memory of its nodes is a limit.
# run: schedule {file} -n 4 --machine slow.machine
--- program
param m = 601, n = 397, q = 853
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64
A(i, j) = B(i, k) * C(k, j)
--- file slow.machine
machine "slow network"
level node 16 memory 5MiB copy 10GB/s latency 50us bandwidth 100MB/s link 100MB/s
level core 1 copy 10GB/s latency 1us bandwidth 5GB/s
rate gemm 10GFLOP/s
--- stdout
# described_machine.distal on 4 ranks: 26 ms, at most 5.0 MiB of memory in a rank
#
# A(i, j) = B(i, k) * C(k, j)
#     time    moved  messages   memory  computed on           data moves
#    26 ms  1.4 MiB         2  5.0 MiB  grid(2, 2) over j, k  at once
#  27.2 ms  1.2 MiB         2  4.6 MiB  grid(3) over k        at once
#  29.2 ms  1.1 MiB         2  3.6 MiB  grid(2, 2) over i, k  A, C in chunks of 199 of j
#  29.3 ms  1.1 MiB         3  4.6 MiB  grid(2, 2) over i, k  C in chunks of 214 of k
#  31.4 ms  1.4 MiB         8  3.0 MiB  grid(4) over k        A in chunks of 100 of j
#  31.4 ms  1.4 MiB         8  3.0 MiB  grid(4) over k        A in chunks of 151 of i
#  31.9 ms  1.2 MiB         2  3.4 MiB  grid(3) over k        A in chunks of 201 of i
#    32 ms  1.2 MiB         6  3.6 MiB  grid(3) over k        A in chunks of 133 of j

param m = 601, n = 397, q = 853
machine M = grid(2, 2)
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64
place A(x0, x1) -> M(x1, x0)
place B(x0, x1) -> M(x0, x1)
place C(x0, x1) -> M(x1, x0)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({j, k}, {jo, ko}, {ji, ki}, M)
}
