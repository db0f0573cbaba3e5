# run: plan -p n=97 -p gx=3 -p gy=3 {file}
--- program
# PUMMA: matrix multiplication on a g x g grid that broadcasts B along its rows and shifts C along its
# columns: between SUMMA and Cannon's algorithm (Choi, Dongarra and Walker, 1994; DISTAL, figure 9).
# A is m x n, B is m x q, C is q x n; `-p n=N` alone makes all of them square.
param n = 960, m = n, q = n, g = 2, gx = g, gy = g

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
  divide(k, ko, ki, gx)
  reorder({ko, ii, ji, ki})
  rotate(ko, {io}, kos)
  communicate(A, jo)
  communicate({B, C}, kos)
}
--- stdout
pumma.distal on 9 ranks

A(i, j) = B(i, k) * C(k, j)
  1825346 flop; at most 52272 B of memory in a rank

                                        moved      moved      messages     home  buffers
  tensor  pattern    at   steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local      jo       1           0 B        0 B             0   8712 B      0 B
  B       broadcast  kos      3       17424 B   150544 B             2   8712 B   8712 B
  C       shift      kos      3       17424 B   150544 B             2   8712 B  17424 B
