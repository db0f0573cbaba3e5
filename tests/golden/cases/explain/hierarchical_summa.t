# run: explain {file}
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
# A(i, j) = B(i, k) * C(k, j)

forall(i) forall(j) forall(k) A(i, j) += B(i, k) * C(k, j)

# after distribute({i, j}, {in, jn}, {il, jl}, L.node)
forall(in) forall(jn) forall(il) forall(jl) forall(k) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, in, il, gx), divide(j, jn, jl, gy), distribute(in, L.node[0]),
         distribute(jn, L.node[1])

# after distribute({il, jl}, {ic, jc}, {ii, ji}, L.core)
forall(in) forall(jn) forall(ic) forall(jc) forall(ii) forall(ji) forall(k)
  A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, in, il, gx), divide(j, jn, jl, gy), distribute(in, L.node[0]),
         distribute(jn, L.node[1]), divide(il, ic, ii, cx), divide(jl, jc, ji, cy),
         distribute(ic, L.core[0]), distribute(jc, L.core[1])

# after split(k, ko, ki, chunk)
forall(in) forall(jn) forall(ic) forall(jc) forall(ii) forall(ji) forall(ko) forall(ki)
  A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, in, il, gx), divide(j, jn, jl, gy), distribute(in, L.node[0]),
         distribute(jn, L.node[1]), divide(il, ic, ii, cx), divide(jl, jc, ji, cy),
         distribute(ic, L.core[0]), distribute(jc, L.core[1]), split(k, ko, ki, chunk)

# after reorder({ko, ii, ji, ki})
forall(in) forall(jn) forall(ic) forall(jc) forall(ko) forall(ii) forall(ji) forall(ki)
  A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, in, il, gx), divide(j, jn, jl, gy), distribute(in, L.node[0]),
         distribute(jn, L.node[1]), divide(il, ic, ii, cx), divide(jl, jc, ji, cy),
         distribute(ic, L.core[0]), distribute(jc, L.core[1]), split(k, ko, ki, chunk)

# after communicate(A, jc)
forall(in) forall(jn) forall(ic) forall(jc) forall(ko) forall(ii) forall(ji) forall(ki)
  A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, in, il, gx), divide(j, jn, jl, gy), distribute(in, L.node[0]),
         distribute(jn, L.node[1]), divide(il, ic, ii, cx), divide(jl, jc, ji, cy),
         distribute(ic, L.core[0]), distribute(jc, L.core[1]), split(k, ko, ki, chunk),
         communicate(A, jc)

# after communicate({B, C}, ko)
forall(in) forall(jn) forall(ic) forall(jc) forall(ko) forall(ii) forall(ji) forall(ki)
  A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, in, il, gx), divide(j, jn, jl, gy), distribute(in, L.node[0]),
         distribute(jn, L.node[1]), divide(il, ic, ii, cx), divide(jl, jc, ji, cy),
         distribute(ic, L.core[0]), distribute(jc, L.core[1]), split(k, ko, ki, chunk),
         communicate(A, jc), communicate(B, ko), communicate(C, ko)

# one process
# processors: L = grid(gx, gy, cx, cy)
# blocks: |il| = ceil_div(m, gx), |jl| = ceil_div(n, gy), |ii| = ceil_div(|il|, cx), |ji| = ceil_div(|jl|, cy)
for all P(in, jn, ic, jc) in parallel:
    accumulate A[in * |il| + ic * |ii| : in * |il| + (ic + 1) * |ii|, jn * |jl| + jc * |ji| : jn * |jl| + (jc + 1) * |ji|]
    for ko in 0 .. ceil_div(q, chunk):
        fetch B[in * |il| + ic * |ii| : in * |il| + (ic + 1) * |ii|, ko * chunk : (ko + 1) * chunk]
        fetch C[ko * chunk : (ko + 1) * chunk, jn * |jl| + jc * |ji| : jn * |jl| + (jc + 1) * |ji|]
        gemm(ii, ji, ki): A(i, j) += B(i, k) * C(k, j)
            ii in 0 .. min(|ii|, min(|il|, m - in * |il|) - ic * |ii|), il = ic * |ii| + ii, i = in * |il| + il
            ji in 0 .. min(|ji|, min(|jl|, n - jn * |jl|) - jc * |ji|), jl = jc * |ji| + ji, j = jn * |jl| + jl
            ki in 0 .. min(chunk, q - ko * chunk), k = ko * chunk + ki
        release C
        release B
    reduce A
