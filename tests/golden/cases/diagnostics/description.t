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
level node 2 latency 1us
rate gem 1GFLOP/s
rate gemm 1GB/s 2
overlap 1.5
speed 3
machine "x
--- stderr
m.machine:1:7: error: level 'node' has no bandwidth of messages between its units
   1 | level node 2 latency 1us
     |       ^~~~
m.machine:2:6: error: unknown rate 'gem'; did you mean 'gemm'?
   2 | rate gem 1GFLOP/s
     |      ^~~
m.machine:3:11: error: 'GB/s' is no unit here: expected FLOP/s, MFLOP/s, GFLOP/s, TFLOP/s
   3 | rate gemm 1GB/s 2
     |           ^~~~~
m.machine:4:9: error: '1.5' is more than 1
   4 | overlap 1.5
     |         ^~~
m.machine:5:1: error: unknown word 'speed' (expected one of: machine level ranks rate factor disk single parallel oversubscribed overhead overlap)
   5 | speed 3
     | ^~~~~
m.machine:6:9: error: the text has no closing quote
   6 | machine "x
     |         ^~
