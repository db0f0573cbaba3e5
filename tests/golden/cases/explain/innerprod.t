# run: explain {file}
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
# a = B(i, j, k) * C(i, j, k)

forall(i) forall(j) forall(k) a += B(i, j, k) * C(i, j, k)

# after distribute({i, j}, {io, jo}, {ii, ji}, M)
forall(io) forall(jo) forall(ii) forall(ji) forall(k) a += B(i, j, k) * C(i, j, k)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1])

# one process
# processors: M = grid(gx, gy)
# blocks: |ii| = ceil_div(m, gx), |ji| = ceil_div(n, gy)
for all P(io, jo) in parallel:
    accumulate a
    fetch B[io * |ii| : (io + 1) * |ii|, jo * |ji| : (jo + 1) * |ji|, :]
    fetch C[io * |ii| : (io + 1) * |ii|, jo * |ji| : (jo + 1) * |ji|, :]
    # loops: the operands or their indices are not those of gemm
    for ii in 0 .. min(|ii|, m - io * |ii|):
        i = io * |ii| + ii
        for ji in 0 .. min(|ji|, n - jo * |ji|):
            j = jo * |ji| + ji
            for k in 0 .. q:
                a += B(i, j, k) * C(i, j, k)
    release C
    release B
    reduce a
