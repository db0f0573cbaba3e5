# run: explain {file}
--- program
# Johnson's algorithm: matrix multiplication on a c x c x c cube. Each matrix lies on one face and is broadcast
# through the cube; one product a process; the partial results are added up onto the face of A
# (Agarwal et al., 1995; DISTAL, figure 9).
# A is m x n, B is m x q, C is q x n; `-p n=N` alone makes all of them square.
param n = 960, m = n, q = n, c = 2, gx = c, gy = c, gz = c

machine M = grid(gx, gy, gz)

tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64

place A(x, y) -> M(x, y, 0)
place B(x, z) -> M(x, 0, z)
place C(z, y) -> M(0, y, z)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
  communicate({A, B, C}, ko)
}
--- stdout
# A(i, j) = B(i, k) * C(k, j)

forall(i) forall(j) forall(k) A(i, j) += B(i, k) * C(k, j)

# after distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
forall(io) forall(jo) forall(ko) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), divide(k, ko, ki, gz), distribute(io, M[0]),
         distribute(jo, M[1]), distribute(ko, M[2])

# after communicate({A, B, C}, ko)
forall(io) forall(jo) forall(ko) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), divide(k, ko, ki, gz), distribute(io, M[0]),
         distribute(jo, M[1]), distribute(ko, M[2]), communicate(A, ko), communicate(B, ko),
         communicate(C, ko)

# one process
# processors: M = grid(gx, gy, gz)
# blocks: |ii| = ceil_div(m, gx), |ji| = ceil_div(n, gy), |ki| = ceil_div(q, gz)
for all P(io, jo, ko) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, jo * |ji| : (jo + 1) * |ji|]
    fetch B[io * |ii| : (io + 1) * |ii|, ko * |ki| : (ko + 1) * |ki|]
    fetch C[ko * |ki| : (ko + 1) * |ki|, jo * |ji| : (jo + 1) * |ji|]
    gemm(ii, ji, ki): A(i, j) += B(i, k) * C(k, j)
        ii in 0 .. min(|ii|, m - io * |ii|), i = io * |ii| + ii
        ji in 0 .. min(|ji|, n - jo * |ji|), j = jo * |ji| + ji
        ki in 0 .. min(|ki|, q - ko * |ki|), k = ko * |ki| + ki
    release C
    release B
    reduce A
