# run: plan -p n=97 -p m=101 -p q=89 -p gx=2 -p gy=3 -p chunk=20 {file}
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
--- stdout
summa.distal on 6 ranks

A(i, j) = B(i, k) * C(k, j)
  1743866 flop; at most 51024 B of memory in a rank

                                       moved      moved      messages     home  buffers
  tensor  pattern    at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local      jo      1           0 B        0 B             0  13464 B      0 B
  B       broadcast  ko      5       24480 B   143824 B             4  12240 B   8160 B
  C       broadcast  ko      5       11880 B    69064 B             3  11880 B   5280 B
