# run: explain {file}
--- program
# COSMA: matrix multiplication on a gx x gy x gz grid, the k of each process cut into steps that fit its memory.
# No matrix is placed: each lies where the schedule needs it first. Grid and steps are those that COSMA's
# optimizer finds for a machine, given as params here (Kwasniewski et al., 2019; DISTAL, figure 9).
# A is m x n, B is m x q, C is q x n; `-p n=N` alone makes all of them square.
param n = 960, m = n, q = n, gx = 2, gy = 2, gz = 1, steps = 2

machine M = grid(gx, gy, gz)

tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
  divide(ki, kio, kii, steps)
  reorder({kio, ii, ji, kii})
  communicate(A, ko)
  communicate({B, C}, kio)
}
--- stdout
# A(i, j) = B(i, k) * C(k, j)

forall(i) forall(j) forall(k) A(i, j) += B(i, k) * C(k, j)

# after distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
forall(io) forall(jo) forall(ko) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), divide(k, ko, ki, gz), distribute(io, M[0]),
         distribute(jo, M[1]), distribute(ko, M[2])

# after divide(ki, kio, kii, steps)
forall(io) forall(jo) forall(ko) forall(ii) forall(ji) forall(kio) forall(kii)
  A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), divide(k, ko, ki, gz), distribute(io, M[0]),
         distribute(jo, M[1]), distribute(ko, M[2]), divide(ki, kio, kii, steps)

# after reorder({kio, ii, ji, kii})
forall(io) forall(jo) forall(ko) forall(kio) forall(ii) forall(ji) forall(kii)
  A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), divide(k, ko, ki, gz), distribute(io, M[0]),
         distribute(jo, M[1]), distribute(ko, M[2]), divide(ki, kio, kii, steps)

# after communicate(A, ko)
forall(io) forall(jo) forall(ko) forall(kio) forall(ii) forall(ji) forall(kii)
  A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), divide(k, ko, ki, gz), distribute(io, M[0]),
         distribute(jo, M[1]), distribute(ko, M[2]), divide(ki, kio, kii, steps),
         communicate(A, ko)

# after communicate({B, C}, kio)
forall(io) forall(jo) forall(ko) forall(kio) forall(ii) forall(ji) forall(kii)
  A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), divide(k, ko, ki, gz), distribute(io, M[0]),
         distribute(jo, M[1]), distribute(ko, M[2]), divide(ki, kio, kii, steps),
         communicate(A, ko), communicate(B, kio), communicate(C, kio)

# one process
# processors: M = grid(gx, gy, gz)
# blocks: |ii| = ceil_div(m, gx), |ji| = ceil_div(n, gy), |ki| = ceil_div(q, gz), |kii| = ceil_div(|ki|, steps)
for all P(io, jo, ko) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, jo * |ji| : (jo + 1) * |ji|]
    for kio in 0 .. steps:
        fetch B[io * |ii| : (io + 1) * |ii|, ko * |ki| + kio * |kii| : ko * |ki| + (kio + 1) * |kii|]
        fetch C[ko * |ki| + kio * |kii| : ko * |ki| + (kio + 1) * |kii|, jo * |ji| : (jo + 1) * |ji|]
        gemm(ii, ji, kii): A(i, j) += B(i, k) * C(k, j)
            ii in 0 .. min(|ii|, m - io * |ii|), i = io * |ii| + ii
            ji in 0 .. min(|ji|, n - jo * |ji|), j = jo * |ji| + ji
            kii in 0 .. min(|kii|, min(|ki|, q - ko * |ki|) - kio * |kii|), ki = kio * |kii| + kii, k = ko * |ki| + ki
        release C
        release B
    reduce A
