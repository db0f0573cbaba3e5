# run: plan -p n=97 -p gz=2 {file}
--- program
# COSMA: matrix multiplication on a gx x gy x gz grid, the k of each process cut into steps that fit its memory.
# No matrix is placed: each lies where the schedule needs it first. Grid and steps are those that COSMA's
# optimizer finds for a machine, given as params here (Kwasniewski et al., 2019; DISTAL, figure 9).
# A is m x n, B is m x q, C is q x n; `-p n=N` alone makes all of them square.
param n = 960, m = n, q = n, gx = 2, gy = 2, gz = 1, steps = 2

machine M = grid(gx, gy, gz)

tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
  divide(ki, kio, kii, steps)
  reorder({kio, ii, ji, kii})
  communicate(A, ko)
  communicate({B, C}, kio)
}
--- stdout
cosma.distal on 8 ranks

A(i, j) = B(i, k) * C(k, j)
  1825346 flop; at most 76832 B of memory in a rank

                                      moved      moved      messages     home  buffers
  tensor  pattern  at   steps  busiest rank  all ranks  busiest rank  largest  largest
  A       reduce   ko       1       19208 B    75272 B             1  19208 B  19208 B
  B       local    kio      2           0 B        0 B             0  19208 B      0 B
  C       local    kio      2           0 B        0 B             0  19208 B      0 B
