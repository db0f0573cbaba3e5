# run: plan --machine m.machine -p n=4096 -p gx=4 {file}
--- program
# SUMMA: matrix multiplication on a gx x gy grid, each process in turn broadcasting a chunk of its tile along
# its row and column (van de Geijn and Watts, 1995; DISTAL, figure 9).
# A is m x n, B is m x q, C is q x n; `-p n=N` alone makes all of them square.
param n = 1024, m = n, q = n, gx = 2, gy = 2, chunk = 256

machine M = grid(gx, gy)

tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64

place A(x, y) -> M(x, y)
place B(x, y) -> M(x, y)
place C(x, y) -> M(x, y)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  split(k, ko, ki, chunk)
  reorder({ko, ii, ji, ki})
  communicate(A, jo)
  communicate({B, C}, ko)
  substitute({ii, ji, ki}, gemm)
}
--- file m.machine
machine "a small one"
level node 4 memory 60MiB copy 100GB/s latency 2us bandwidth 1KiB:1GB/s 1MiB:10GB/s link 12GB/s
level core 2 copy 20GB/s latency 0.5us bandwidth 5GB/s
rate gemm 16:1GFLOP/s 1024:16GFLOP/s
rate loops 2GFLOP/s
--- stdout
machine_memory.distal on 8 ranks
predicted for a small one: 2 ranks in a node, of 1 thread

A(i, j) = B(i, k) * C(k, j)
  137438953472 flop; at most 54.0 MiB of memory in a rank

                                       moved      moved      messages      home  buffers
  tensor  pattern    at  steps  busiest rank  all ranks  busiest rank   largest  largest
  A       local      jo      1           0 B        0 B             0  16.0 MiB      0 B
  B       broadcast  ko     16      16.0 MiB  128.0 MiB             8  16.0 MiB  2.0 MiB
  C       broadcast  ko     16      48.0 MiB  384.0 MiB            12  16.0 MiB  4.0 MiB
  predicted: 1.72 s: computing 1.69 s, memory 4.19 ms, network 18.9 ms, disk 0 us; computing takes 99%
  moved by the busiest rank: 64.0 MiB; by any schedule at least 48.1 MiB: 2 I J K / (P sqrt(S)) + S elements, less what is at home; I = 4096, J = 4096, K = 4096, P = 8, S = 3932160
  a rank needs 54.0 MiB of memory; that machine has 30.0 MiB for each
