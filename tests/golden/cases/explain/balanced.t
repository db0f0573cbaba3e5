# Loops whose parts entries balance: over rows, and over positions of two levels of a machine.
# run: explain {file}
--- program
param n = 100, m = 200
machine M = node grid(2), core grid(3)
tensor B(n, m): f64, csr; tensor C(n, m): f64, csr
tensor x(m): f64; tensor y(n): f64; tensor z(n): f64
place B(r, c) -> M.node(weighted(r)), B(r, c) -> M.core(r)
place C(r, c) -> M.node(~fuse(r, c)), C(r, c) -> M.core(~fuse(r, c))
y(i) = B(i, j) * x(j)
z(i) = C(i, j) * x(j)
--- stdout
# y(i) = B(i, j) * x(j)

forall(i) forall(j) y(i) += B(i, j) * x(j)

# with the defaults
forall(io) forall(iio) forall(iii) forall(j) y(i) += B(i, j) * x(j)
    s.t. balance(i, io, ii, 2, B), divide(ii, iio, iii, 3), distribute(io, M.node[0]),
         distribute(iio, M.core[0])

# one process
# processors: M = grid(2, 3)
# blocks: |iii| = ceil_div(ii_longest, 3)
for all P(io, iio) in parallel:
    accumulate y[ii_begin + iio * |iii| : ii_begin + (iio + 1) * |iii|]
    fetch B[ii_begin + iio * |iii| : ii_begin + (iio + 1) * |iii|, :]
    fetch x[:]  # rows iii that need nothing of other ranks come first, while it arrives
    # loops: 'B' is sparse
    for iii in 0 .. min(|iii|, ii_length - iio * |iii|):
        ii = iio * |iii| + iii
        i = ii_begin + ii
        for j in 0 .. m:
            y(i) += B(i, j) * x(j)
    release x
    release B
    reduce y

# z(i) = C(i, j) * x(j)

forall(i) forall(j) z(i) += C(i, j) * x(j)

# with the defaults
forall(ijpo) forall(ijpio) forall(ijpii) z(i) += C(i, j) * x(j)
    s.t. collapse(i, j, ijf), pos(ijf, ijp, C(i, j)), divide(ijp, ijpo, ijpi, 2),
         divide(ijpi, ijpio, ijpii, 3), distribute(ijpo, M.node[0]), distribute(ijpio, M.core[0])

# one process
# processors: M = grid(2, 3)
# blocks: |ijpi| = ceil_div(ijp_count, 2), |ijpii| = ceil_div(|ijpi|, 3)
for all P(ijpo, ijpio) in parallel:
    accumulate z[:]
    fetch C[:, :]
    fetch x[:]
    # loops: 'C' is sparse
    for ijpii in 0 .. min(|ijpii|, min(|ijpi|, ijp_count - ijpo * |ijpi|) - ijpio * |ijpii|):
        ijpi = ijpio * |ijpii| + ijpii
        ijp = ijpo * |ijpi| + ijpi
        z(i) += C(i, j) * x(j)
    release x
    release C
    reduce z
