# run: plan -p n=23 {file}
# Matricized tensor times Khatri-Rao product: B stays where it is, the factors C and D are broadcast to the
--- program
# The same matricized tensor times Khatri-Rao product in two steps for each i: a library call for B times the matrix
# D, then what is left of the product with C. The workspace lives in an iteration of i: it has n x r elements, where
# that of mttkrp_ttm.distal has m x n x r, and stays in the cache between the two steps.
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
  precompute(B(i, j, k) * D(k, l), {j, l}, {j, l}, w)
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  communicate({A, B, C, D}, jo)
}
--- stdout
mttkrp_rows.distal on 4 ranks

A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
  812544 flop; at most 44672 B of memory in a rank

                                       moved      moved      messages     home  buffers
  tensor  pattern    at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       reduce     jo      1        3072 B     5888 B             1   3072 B   3072 B
  B       local      jo      1           0 B        0 B             0  26496 B      0 B
  C       broadcast  jo      1        3072 B     5888 B             1   3072 B   3072 B
  D       broadcast  jo      1        5888 B    17664 B             1   5888 B   5888 B
  w       row        ii      0           0 B        0 B             0      0 B   3072 B
