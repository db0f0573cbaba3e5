# run: explain {file}
--- program
# Tensor times vector: the last mode of B contracted with c, which every process has. Nothing moves
# (DISTAL, section 7.2).
# B is m x n x q; `-p n=N` alone makes all extents equal.
param n = 160, m = n, q = n, gx = 2, gy = 2

machine M = grid(gx, gy)

tensor A(m, n): f64
tensor B(m, n, q): f64
tensor c(q): f64

place A(x, y) -> M(x, y)
place B(x, y, z) -> M(x, y)
place c(x) -> M(*, *)

A(i, j) = B(i, j, k) * c(k)

schedule A {
  distribute({i, j}, {io, jo}, {ii, ji}, M)
}
--- stdout
# A(i, j) = B(i, j, k) * c(k)

forall(i) forall(j) forall(k) A(i, j) += B(i, j, k) * c(k)

# after distribute({i, j}, {io, jo}, {ii, ji}, M)
forall(io) forall(jo) forall(ii) forall(ji) forall(k) A(i, j) += B(i, j, k) * c(k)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1])

# one process
# processors: M = grid(gx, gy)
# blocks: |ii| = ceil_div(m, gx), |ji| = ceil_div(n, gy)
for all P(io, jo) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, jo * |ji| : (jo + 1) * |ji|]
    fetch B[io * |ii| : (io + 1) * |ii|, jo * |ji| : (jo + 1) * |ji|, :]
    fetch c[:]
    for ii in 0 .. min(|ii|, m - io * |ii|):
        i = io * |ii| + ii
        gemv(ji, k): A(i, j) += B(i, j, k) * c(k)
            ji in 0 .. min(|ji|, n - jo * |ji|), j = jo * |ji| + ji
            k in 0 .. q
    release c
    release B
    reduce A
