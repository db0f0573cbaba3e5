# run: plan -p n=23 {file}
--- program
# Inner product of two tensors of order 3: each process sums over its own tile, then the sums are added up
# (DISTAL, section 7.2).
# B and C are m x n x q; `-p n=N` alone makes all extents equal.
param n = 160, m = n, q = n, gx = 2, gy = 2

machine M = grid(gx, gy)

tensor a: f64
tensor B(m, n, q): f64
tensor C(m, n, q): f64

place B(x, y, z) -> M(x, y)
place C(x, y, z) -> M(x, y)

a = B(i, j, k) * C(i, j, k)

schedule a {
  distribute({i, j}, {io, jo}, {ii, ji}, M)
}
--- stdout
innerprod.distal on 4 ranks

a = B(i, j, k) * C(i, j, k)
  24334 flop; at most 53008 B of memory in a rank

                                        moved      moved      messages     home  buffers
  tensor  pattern     at  steps  busiest rank  all ranks  busiest rank  largest  largest
  a       all-reduce  jo      1           8 B       32 B             1      8 B      8 B
  B       local       jo      1           0 B        0 B             0  26496 B      0 B
  C       local       jo      1           0 B        0 B             0  26496 B      0 B
