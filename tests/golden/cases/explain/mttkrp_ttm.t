# run: explain {file}
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
# A(i, l) = B(i, j, k) * C(j, l) * D(k, l)

forall(i) forall(l) forall(j) forall(k) A(i, l) += B(i, j, k) * C(j, l) * D(k, l)

# after precompute(B(i, j, k) * D(k, l), {i, j, l}, {i, j, l}, W)
forall(i) forall(l) forall(j) A(i, l) += W(i, j, l) * C(j, l) where
forall(i) forall(j) forall(l) forall(k) W(i, j, l) += B(i, j, k) * D(k, l)
    # W is a whole tensor: variables that do not index it are summed ahead

# after distribute({i, j}, {io, jo}, {ii, ji}, M)
forall(io) forall(jo) forall(l) forall(ii) forall(ji) A(i, l) += W(i, j, l) * C(j, l) where
forall(io) forall(jo) forall(ii) forall(ji) forall(l) forall(k) W(i, j, l) += B(i, j, k) * D(k, l)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1])

# after communicate({A, B, C, D, W}, jo)
forall(io) forall(jo) forall(l) forall(ii) forall(ji) A(i, l) += W(i, j, l) * C(j, l) where
forall(io) forall(jo) forall(ii) forall(ji) forall(l) forall(k) W(i, j, l) += B(i, j, k) * D(k, l)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1]),
         communicate(A, jo), communicate(B, jo), communicate(C, jo), communicate(D, jo),
         communicate(W, jo)

# after substitute({ji, l, k}, gemm)
forall(io) forall(jo) forall(l) forall(ii) forall(ji) A(i, l) += W(i, j, l) * C(j, l) where
forall(io) forall(jo) forall(ii) forall(ji) forall(l) forall(k) W(i, j, l) += B(i, j, k) * D(k, l)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1]),
         communicate(A, jo), communicate(B, jo), communicate(C, jo), communicate(D, jo),
         communicate(W, jo), substitute({ji, l, k}, gemm)

# one process
# processors: M = grid(gx, gy)
# blocks: |ii| = ceil_div(m, gx), |ji| = ceil_div(n, gy)
for all P(io, jo) in parallel:
    accumulate W[io * |ii| : (io + 1) * |ii|, jo * |ji| : (jo + 1) * |ji|, :]
    fetch B[io * |ii| : (io + 1) * |ii|, jo * |ji| : (jo + 1) * |ji|, :]
    fetch D[:, :]
    for ii in 0 .. min(|ii|, m - io * |ii|):
        i = io * |ii| + ii
        gemm(ji, l, k): W(i, j, l) += B(i, j, k) * D(k, l)
            ji in 0 .. min(|ji|, n - jo * |ji|), j = jo * |ji| + ji
            l in 0 .. r
            k in 0 .. q
    release D
    release B
    reduce W
for all P(io, jo) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, :]
    fetch W[io * |ii| : (io + 1) * |ii|, jo * |ji| : (jo + 1) * |ji|, :]
    fetch C[jo * |ji| : (jo + 1) * |ji|, :]
    # loops: the operands or their indices are not those of gemm
    for ii in 0 .. min(|ii|, m - io * |ii|):
        i = io * |ii| + ii
        for ji in 0 .. min(|ji|, n - jo * |ji|):
            j = jo * |ji| + ji
            for l in 0 .. r:
                A(i, l) += W(i, j, l) * C(j, l)
    release C
    release W
    reduce A
