# Along rows of the grid, one processor computes a part of the workspace, which has no l: that takes fewer steps yet.
# run: explain {file}
--- program
param n = 1000
machine M = grid(4, 2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
tensor D(n, n): f64
place A(x, y) -> M(x, y)
place B(x, y) -> M(x, y)
place C(x, y) -> M(x, y)
place D(x, y) -> M(x, y)
A(i, l) = B(i, j) * C(j, k) * D(k, l)
--- stdout
# A(i, l) = B(i, j) * C(j, k) * D(k, l)

forall(i) forall(l) forall(j) forall(k) A(i, l) += B(i, j) * C(j, k) * D(k, l)

# fewer steps with precompute(B(i, j) * C(j, k), {i, k}, {i, k}, W)
forall(i) forall(l) forall(k) A(i, l) += W(i, k) * D(k, l) where
forall(i) forall(k) forall(j) W(i, k) += B(i, j) * C(j, k)
    # W is a whole tensor: variables that do not index it are summed ahead

# with the defaults
forall(io) forall(lo) forall(ii) forall(li) forall(k) A(i, l) += W(i, k) * D(k, l) where
forall(io) forall(ii) forall(k) forall(j) W(i, k) += B(i, j) * C(j, k)
    s.t. divide(i, io, ii, 4), divide(l, lo, li, 2), distribute(io, M[0]), distribute(lo, M[1])

# one process
# processors: M = grid(4, 2)
# blocks: |ii| = ceil_div(n, 4), |li| = ceil_div(n, 2)
for all P(io, 0) in parallel:
    accumulate W[io * |ii| : (io + 1) * |ii|, :]
    fetch B[io * |ii| : (io + 1) * |ii|, :]
    fetch C[:, :]
    gemm(ii, k, j): W(i, k) += B(i, j) * C(j, k)
        ii in 0 .. min(|ii|, n - io * |ii|), i = io * |ii| + ii
        k in 0 .. n
        j in 0 .. n
    release C
    release B
    reduce W
for all P(io, lo) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, lo * |li| : (lo + 1) * |li|]
    fetch W[io * |ii| : (io + 1) * |ii|, :]
    fetch D[:, lo * |li| : (lo + 1) * |li|]
    gemm(ii, li, k): A(i, l) += W(i, k) * D(k, l)
        ii in 0 .. min(|ii|, n - io * |ii|), i = io * |ii| + ii
        li in 0 .. min(|li|, n - lo * |li|), l = lo * |li| + li
        k in 0 .. n
    release D
    release W
    reduce A
