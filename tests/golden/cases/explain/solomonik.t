# run: explain {file}
--- program
# The 2.5D algorithm: matrix multiplication on c layers of a g x g grid. The matrices lie on layer 0, each layer
# does its share of the steps of Cannon's algorithm, and the partial results are added up onto layer 0
# (Solomonik and Demmel, 2011; DISTAL, figure 9).
# A is m x n, B is m x q, C is q x n; `-p n=N` alone makes all of them square. `steps` is g / c, rounded up.
param n = 960, m = n, q = n, g = 2, c = 2, gx = g, gy = g, steps = (gx + c - 1) / c

machine M = grid(gx, gy, c)

tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64

place A(x, y) -> M(x, y, 0)
place B(x, y) -> M(x, y, 0)
place C(x, y) -> M(x, y, 0)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
  divide(ki, kio, kii, steps)
  reorder({kio, ii, ji, kii})
  rotate(kio, {io, jo}, kios)
  communicate(A, jo)
  communicate({B, C}, kios)
}
--- stdout
# A(i, j) = B(i, k) * C(k, j)

forall(i) forall(j) forall(k) A(i, j) += B(i, k) * C(k, j)

# after distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
forall(io) forall(jo) forall(ko) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), divide(k, ko, ki, c), distribute(io, M[0]),
         distribute(jo, M[1]), distribute(ko, M[2])

# after divide(ki, kio, kii, steps)
forall(io) forall(jo) forall(ko) forall(ii) forall(ji) forall(kio) forall(kii)
  A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), divide(k, ko, ki, c), distribute(io, M[0]),
         distribute(jo, M[1]), distribute(ko, M[2]), divide(ki, kio, kii, steps)

# after reorder({kio, ii, ji, kii})
forall(io) forall(jo) forall(ko) forall(kio) forall(ii) forall(ji) forall(kii)
  A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), divide(k, ko, ki, c), distribute(io, M[0]),
         distribute(jo, M[1]), distribute(ko, M[2]), divide(ki, kio, kii, steps)

# after rotate(kio, {io, jo}, kios)
forall(io) forall(jo) forall(ko) forall(kios) forall(ii) forall(ji) forall(kii)
  A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), divide(k, ko, ki, c), distribute(io, M[0]),
         distribute(jo, M[1]), distribute(ko, M[2]), divide(ki, kio, kii, steps),
         rotate(kio, {io, jo}, kios)

# after communicate(A, jo)
forall(io) forall(jo) forall(ko) forall(kios) forall(ii) forall(ji) forall(kii)
  A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), divide(k, ko, ki, c), distribute(io, M[0]),
         distribute(jo, M[1]), distribute(ko, M[2]), divide(ki, kio, kii, steps),
         rotate(kio, {io, jo}, kios), communicate(A, jo)

# after communicate({B, C}, kios)
forall(io) forall(jo) forall(ko) forall(kios) forall(ii) forall(ji) forall(kii)
  A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), divide(k, ko, ki, c), distribute(io, M[0]),
         distribute(jo, M[1]), distribute(ko, M[2]), divide(ki, kio, kii, steps),
         rotate(kio, {io, jo}, kios), communicate(A, jo), communicate(B, kios),
         communicate(C, kios)

# one process
# processors: M = grid(gx, gy, c)
# blocks: |ii| = ceil_div(m, gx), |ji| = ceil_div(n, gy), |ki| = ceil_div(q, c), |kii| = ceil_div(|ki|, steps)
for all P(io, jo, ko) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, jo * |ji| : (jo + 1) * |ji|]
    for kios in 0 .. steps:
        fetch B[io * |ii| : (io + 1) * |ii|, ko * |ki| + (kios + io + jo) % steps * |kii| : ko * |ki| + ((kios + io + jo) % steps + 1) * |kii|]
        fetch C[ko * |ki| + (kios + io + jo) % steps * |kii| : ko * |ki| + ((kios + io + jo) % steps + 1) * |kii|, jo * |ji| : (jo + 1) * |ji|]
        kio = (kios + io + jo) % steps
        gemm(ii, ji, kii): A(i, j) += B(i, k) * C(k, j)
            ii in 0 .. min(|ii|, m - io * |ii|), i = io * |ii| + ii
            ji in 0 .. min(|ji|, n - jo * |ji|), j = jo * |ji| + ji
            kii in 0 .. min(|kii|, min(|ki|, q - ko * |ki|) - kio * |kii|), ki = kio * |kii| + kii, k = ko * |ki| + ki
        release C
        release B
    reduce A
