# run: plan -p n=97 {file}
--- program
# SUMMA over the nodes of a machine, and inside each node its tile of A divided among the cores
# (DISTAL, sections 3.1 to 3.3). One process a core: gx * gy * cx * cy of them.
# A is m x n, B is m x q, C is q x n; `-p n=N` alone makes all of them square.
param n = 960, m = n, q = n, gx = 2, gy = 1, cx = 1, cy = 2, chunk = 240

machine L = node grid(gx, gy), core grid(cx, cy)

tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64

place A(x, y) -> L.node(x, y), A(z, w) -> L.core(z, w)
place B(x, y) -> L.node(x, y), B(z, w) -> L.core(z, w)
place C(x, y) -> L.node(x, y), C(z, w) -> L.core(z, w)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j}, {in, jn}, {il, jl}, L.node)
  distribute({il, jl}, {ic, jc}, {ii, ji}, L.core)
  split(k, ko, ki, chunk)
  reorder({ko, ii, ji, ki})
  communicate(A, jc)
  communicate({B, C}, ko)
}
--- stdout
hierarchical_summa.distal on 4 ranks

A(i, j) = B(i, k) * C(k, j)
  1825346 flop; at most 133672 B of memory in a rank

                                        moved      moved      messages     home  buffers
  tensor  pattern     at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local       jc      1           0 B        0 B             0  19208 B      0 B
  B       broadcast   ko      1       19208 B    75272 B             1  19208 B  38024 B
  C       all-gather  ko      1       19208 B    75272 B             1  19208 B  38024 B
