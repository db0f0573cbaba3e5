# run: explain {file}
--- program
# Cannon's algorithm: matrix multiplication on a g x g grid, where the tiles of B and C are shifted along their rows
# and columns one place a step (Cannon, 1969; DISTAL, figure 9).
# A is m x n, B is m x q, C is q x n; `-p n=N` alone makes all of them square. A grid that is not square
# (gx, gy) is right as well, but its tiles do not meet: they are gathered from wherever they are.
param n = 960, m = n, q = n, g = 2, gx = g, gy = g

machine M = grid(gx, gy)

tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64

place A(x, y) -> M(x, y)
place B(x, y) -> M(x, y)
place C(x, y) -> M(x, y)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  divide(k, ko, ki, gx)
  reorder({ko, ii, ji, ki})
  rotate(ko, {io, jo}, kos)
  communicate(A, jo)
  communicate({B, C}, kos)
}
--- stdout
# A(i, j) = B(i, k) * C(k, j)

forall(i) forall(j) forall(k) A(i, j) += B(i, k) * C(k, j)

# after distribute({i, j}, {io, jo}, {ii, ji}, M)
forall(io) forall(jo) forall(ii) forall(ji) forall(k) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1])

# after divide(k, ko, ki, gx)
forall(io) forall(jo) forall(ii) forall(ji) forall(ko) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1]),
         divide(k, ko, ki, gx)

# after reorder({ko, ii, ji, ki})
forall(io) forall(jo) forall(ko) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1]),
         divide(k, ko, ki, gx)

# after rotate(ko, {io, jo}, kos)
forall(io) forall(jo) forall(kos) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1]),
         divide(k, ko, ki, gx), rotate(ko, {io, jo}, kos)

# after communicate(A, jo)
forall(io) forall(jo) forall(kos) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1]),
         divide(k, ko, ki, gx), rotate(ko, {io, jo}, kos), communicate(A, jo)

# after communicate({B, C}, kos)
forall(io) forall(jo) forall(kos) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1]),
         divide(k, ko, ki, gx), rotate(ko, {io, jo}, kos), communicate(A, jo), communicate(B, kos),
         communicate(C, kos)

# one process
# processors: M = grid(gx, gy)
# blocks: |ii| = ceil_div(m, gx), |ji| = ceil_div(n, gy), |ki| = ceil_div(q, gx)
for all P(io, jo) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, jo * |ji| : (jo + 1) * |ji|]
    for kos in 0 .. gx:
        fetch B[io * |ii| : (io + 1) * |ii|, (kos + io + jo) % gx * |ki| : ((kos + io + jo) % gx + 1) * |ki|]
        fetch C[(kos + io + jo) % gx * |ki| : ((kos + io + jo) % gx + 1) * |ki|, jo * |ji| : (jo + 1) * |ji|]
        ko = (kos + io + jo) % gx
        gemm(ii, ji, ki): A(i, j) += B(i, k) * C(k, j)
            ii in 0 .. min(|ii|, m - io * |ii|), i = io * |ii| + ii
            ji in 0 .. min(|ji|, n - jo * |ji|), j = jo * |ji| + ji
            ki in 0 .. min(|ki|, q - ko * |ki|), k = ko * |ki| + ki
        release C
        release B
    reduce A
