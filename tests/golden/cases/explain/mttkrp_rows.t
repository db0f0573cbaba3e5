# run: explain {file}
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
# A(i, l) = B(i, j, k) * C(j, l) * D(k, l)

forall(i) forall(l) forall(j) forall(k) A(i, l) += B(i, j, k) * C(j, l) * D(k, l)

# after precompute(B(i, j, k) * D(k, l), {j, l}, {j, l}, w)
forall(i)
  forall(l) forall(j) A(i, l) += w(j, l) * C(j, l) where
  forall(j) forall(l) forall(k) w(j, l) += B(i, j, k) * D(k, l)
    # w lives in an iteration of i: what is left of the statement has them, or sums over them

# after distribute({i, j}, {io, jo}, {ii, ji}, M)
forall(io) forall(jo) forall(ii)
  forall(l) forall(ji) A(i, l) += w(j, l) * C(j, l) where
  forall(ji) forall(l) forall(k) w(j, l) += B(i, j, k) * D(k, l)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1])

# after communicate({A, B, C, D}, jo)
forall(io) forall(jo) forall(ii)
  forall(l) forall(ji) A(i, l) += w(j, l) * C(j, l) where
  forall(ji) forall(l) forall(k) w(j, l) += B(i, j, k) * D(k, l)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1]),
         communicate(A, jo), communicate(B, jo), communicate(C, jo), communicate(D, jo)

# one process
# processors: M = grid(gx, gy)
# blocks: |ii| = ceil_div(m, gx), |ji| = ceil_div(n, gy)
for all P(io, jo) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, :]
    fetch C[jo * |ji| : (jo + 1) * |ji|, :]
    fetch B[io * |ii| : (io + 1) * |ii|, jo * |ji| : (jo + 1) * |ji|, :]
    fetch D[:, :]
    # loops: 'w' is filled and read in each iteration
    for ii in 0 .. min(|ii|, m - io * |ii|):
        i = io * |ii| + ii
        workspace w[|ji|, r], zero
        gemm(ji, l, k): w(j, l) += B(i, j, k) * D(k, l)
            ji in 0 .. min(|ji|, n - jo * |ji|), j = jo * |ji| + ji
            l in 0 .. r
            k in 0 .. q
        # loops: too few loops
        for ji in 0 .. min(|ji|, n - jo * |ji|):
            j = jo * |ji| + ji
            for l in 0 .. r:
                A(i, l) += w(j, l) * C(j, l)
    release D
    release B
    release C
    reduce A
