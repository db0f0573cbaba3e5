# run: plan -p n=23 {file}
--- program
# Matricized tensor times Khatri-Rao product: B stays where it is, the factors C and D are broadcast to the
# blocks of B that need them, and the partial results are added up (Ballard, Knight and Rouse, 2018; DISTAL,
# section 7.2).
# B is m x n x q, the factors have r columns; `-p n=N` alone makes all extents but r equal.
param n = 96, m = n, q = n, r = 32, gx = 2, gy = 2, gz = 1

machine M = grid(gx, gy, gz)

tensor A(m, r): f64
tensor B(m, n, q): f64
tensor C(n, r): f64
tensor D(q, r): f64

place A(x, w) -> M(x, 0, 0)
place B(x, y, z) -> M(x, y, z)
place C(y, w) -> M(0, y, 0)
place D(z, w) -> M(0, 0, z)

A(i, l) = B(i, j, k) * C(j, l) * D(k, l)

schedule A {
  distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
  communicate({A, B, C, D}, ko)
}
--- stdout
mttkrp.distal on 4 ranks

A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
  1168032 flop; at most 41600 B of memory in a rank

                                       moved      moved      messages     home  buffers
  tensor  pattern    at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       reduce     ko      1        3072 B     5888 B             1   3072 B   3072 B
  B       local      ko      1           0 B        0 B             0  26496 B      0 B
  C       broadcast  ko      1        3072 B     5888 B             1   3072 B   3072 B
  D       broadcast  ko      1        5888 B    17664 B             1   5888 B   5888 B
