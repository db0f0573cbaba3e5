# run: plan --machine m.machine {file}
# status: 2
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
machine "x"
--- stderr
m.machine: error: the machine has no level: write one such as: level node 16 latency 1.5us bandwidth 12GB/s copy 200GB/s
