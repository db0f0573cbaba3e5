# run: plan -p n=23 {file}
# Matricized tensor times Khatri-Rao product: B stays where it is, the factors C and D are broadcast to the
--- program
# The same matricized tensor times Khatri-Rao product, not fused: first B times the matrix D, a library call,
# then what is left of the product with C, by schedule alone. It does about half of the operations, with a
# workspace of m x n x r elements.
param n = 96, m = n, q = n, r = 32, gx = 2, gy = 2

machine M = grid(gx, gy)

tensor A(m, r): f64
tensor B(m, n, q): f64
tensor C(n, r): f64
tensor D(q, r): f64

place A(x, w) -> M(x, 0)
place B(x, y, z) -> M(x, y)
place C(y, w) -> M(0, y)
place D(z, w) -> M(0, 0)

A(i, l) = B(i, j, k) * C(j, l) * D(k, l)

schedule A {
  precompute(B(i, j, k) * D(k, l), {i, j, l}, {i, j, l}, W)
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  communicate({A, B, C, D, W}, jo)
  substitute({ji, l, k}, gemm)
}
--- stdout
mttkrp_ttm.distal on 4 ranks

A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
  812544 flop; at most 78464 B of memory in a rank

                                       moved      moved      messages     home  buffers
  tensor  pattern    at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       reduce     jo      1        3072 B     5888 B             1   3072 B   3072 B
  B       local      jo      1           0 B        0 B             0  26496 B      0 B
  C       broadcast  jo      1        3072 B     5888 B             1   3072 B   3072 B
  D       broadcast  jo      1        5888 B    17664 B             1   5888 B   5888 B
  W       local      jo      1           0 B        0 B             0  36864 B      0 B
