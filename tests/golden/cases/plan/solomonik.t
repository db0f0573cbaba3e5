# run: plan -p n=97 -p g=4 {file}
--- program
# The 2.5D algorithm: matrix multiplication on c layers of a g x g grid. The matrices lie on layer 0, each layer
# does its share of the steps of Cannon's algorithm, and the partial results are added up onto layer 0
# (Solomonik and Demmel, 2011; DISTAL, figure 9).
# A is m x n, B is m x q, C is q x n; `-p n=N` alone makes all of them square. `steps` is g / c, rounded up.
param n = 960, m = n, q = n, g = 2, c = 2, gx = g, gy = g, steps = (gx + c - 1) / c

machine M = grid(gx, gy, c)

tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64

place A(x, y) -> M(x, y, 0)
place B(x, y) -> M(x, y, 0)
place C(x, y) -> M(x, y, 0)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
  divide(ki, kio, kii, steps)
  reorder({kio, ii, ji, kii})
  rotate(kio, {io, jo}, kios)
  communicate(A, jo)
  communicate({B, C}, kios)
}
--- stdout
solomonik.distal on 32 ranks

A(i, j) = B(i, k) * C(k, j)
  1825346 flop; at most 40000 B of memory in a rank

                                       moved      moved      messages     home  buffers
  tensor  pattern  at    steps  busiest rank  all ranks  busiest rank  largest  largest
  A       reduce   jo        1        5000 B    75272 B             1   5000 B   5000 B
  B       shift    kios      2        9800 B   263064 B             3   5000 B  10000 B
  C       shift    kios      2        9800 B   263064 B             3   5000 B  10000 B
