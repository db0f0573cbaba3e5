# run: plan -p n=97 {file}
--- program
# Johnson's algorithm: matrix multiplication on a c x c x c cube. Each matrix lies on one face and is broadcast
# through the cube; one product a process; the partial results are added up onto the face of A
# (Agarwal et al., 1995; DISTAL, figure 9).
# A is m x n, B is m x q, C is q x n; `-p n=N` alone makes all of them square.
param n = 960, m = n, q = n, c = 2, gx = c, gy = c, gz = c

machine M = grid(gx, gy, gz)

tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64

place A(x, y) -> M(x, y, 0)
place B(x, z) -> M(x, 0, z)
place C(z, y) -> M(0, y, z)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
  communicate({A, B, C}, ko)
}
--- stdout
johnson.distal on 8 ranks

A(i, j) = B(i, k) * C(k, j)
  1825346 flop; at most 76832 B of memory in a rank

                                       moved      moved      messages     home  buffers
  tensor  pattern    at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       reduce     ko      1       19208 B    75272 B             1  19208 B  19208 B
  B       broadcast  ko      1       19208 B    75272 B             1  19208 B  19208 B
  C       broadcast  ko      1       19208 B    75272 B             1  19208 B  19208 B
