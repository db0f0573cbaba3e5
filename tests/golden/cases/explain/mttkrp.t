# run: explain {file}
--- program
# Matricized tensor times Khatri-Rao product: B stays where it is, the factors C and D are broadcast to the
# blocks of B that need them, and the partial results are added up (Ballard, Knight and Rouse, 2018; DISTAL,
# section 7.2).
# B is m x n x q, the factors have r columns; `-p n=N` alone makes all extents but r equal.
param n = 96, m = n, q = n, r = 32, gx = 2, gy = 2, gz = 1

machine M = grid(gx, gy, gz)

tensor A(m, r): f64
tensor B(m, n, q): f64
tensor C(n, r): f64
tensor D(q, r): f64

place A(x, w) -> M(x, 0, 0)
place B(x, y, z) -> M(x, y, z)
place C(y, w) -> M(0, y, 0)
place D(z, w) -> M(0, 0, z)

A(i, l) = B(i, j, k) * C(j, l) * D(k, l)

schedule A {
  distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
  communicate({A, B, C, D}, ko)
}
--- stdout
# A(i, l) = B(i, j, k) * C(j, l) * D(k, l)

forall(i) forall(l) forall(j) forall(k) A(i, l) += B(i, j, k) * C(j, l) * D(k, l)

# after distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
forall(io) forall(jo) forall(ko) forall(l) forall(ii) forall(ji) forall(ki)
  A(i, l) += B(i, j, k) * C(j, l) * D(k, l)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), divide(k, ko, ki, gz), distribute(io, M[0]),
         distribute(jo, M[1]), distribute(ko, M[2])

# after communicate({A, B, C, D}, ko)
forall(io) forall(jo) forall(ko) forall(l) forall(ii) forall(ji) forall(ki)
  A(i, l) += B(i, j, k) * C(j, l) * D(k, l)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), divide(k, ko, ki, gz), distribute(io, M[0]),
         distribute(jo, M[1]), distribute(ko, M[2]), communicate(A, ko), communicate(B, ko),
         communicate(C, ko), communicate(D, ko)

# one process
# processors: M = grid(gx, gy, gz)
# blocks: |ii| = ceil_div(m, gx), |ji| = ceil_div(n, gy), |ki| = ceil_div(q, gz)
for all P(io, jo, ko) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, :]
    fetch B[io * |ii| : (io + 1) * |ii|, jo * |ji| : (jo + 1) * |ji|, ko * |ki| : (ko + 1) * |ki|]
    fetch C[jo * |ji| : (jo + 1) * |ji|, :]
    fetch D[ko * |ki| : (ko + 1) * |ki|, :]
    # loops: more than two operands
    for ii in 0 .. min(|ii|, m - io * |ii|):
        i = io * |ii| + ii
        for ji in 0 .. min(|ji|, n - jo * |ji|):
            j = jo * |ji| + ji
            for ki in 0 .. min(|ki|, q - ko * |ki|):
                k = ko * |ki| + ki
                for l in 0 .. r:
                    A(i, l) += B(i, j, k) * C(j, l) * D(k, l)
    release D
    release C
    release B
    reduce A
