# run: explain {file}
--- program
# Tensor times matrix: the last mode of B contracted with C, which every process has. Each process multiplies
# its slice of B as one large matrix; nothing moves (DISTAL, section 7.2).
# B is m x n x q, C is q x r; `-p n=N` alone makes all extents equal.
param n = 96, m = n, q = n, r = n, p = 4

machine M = grid(p)

tensor A(m, n, r): f64
tensor B(m, n, q): f64
tensor C(q, r): f64

place A(x, y, z) -> M(x)
place B(x, y, z) -> M(x)
place C(x, y) -> M(*)

A(i, j, l) = B(i, j, k) * C(k, l)

schedule A {
  distribute({i}, {io}, {ii}, M)
}
--- stdout
# A(i, j, l) = B(i, j, k) * C(k, l)

forall(i) forall(j) forall(l) forall(k) A(i, j, l) += B(i, j, k) * C(k, l)

# after distribute({i}, {io}, {ii}, M)
forall(io) forall(ii) forall(j) forall(l) forall(k) A(i, j, l) += B(i, j, k) * C(k, l)
    s.t. divide(i, io, ii, p), distribute(io, M[0])

# one process
# processors: M = grid(p)
# blocks: |ii| = ceil_div(m, p)
for all P(io) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, :, :]
    fetch B[io * |ii| : (io + 1) * |ii|, :, :]
    fetch C[:, :]
    gemm((ii, j), l, k): A(i, j, l) += B(i, j, k) * C(k, l)
        ii in 0 .. min(|ii|, m - io * |ii|), i = io * |ii| + ii
        j in 0 .. n
        l in 0 .. r
        k in 0 .. q
    release C
    release B
    reduce A
