# run: explain {file}
--- program
# SUMMA: matrix multiplication on a gx x gy grid, each process in turn broadcasting a chunk of its tile along
# its row and column (van de Geijn and Watts, 1995; DISTAL, figure 9).
# A is m x n, B is m x q, C is q x n; `-p n=N` alone makes all of them square.
param n = 1024, m = n, q = n, gx = 2, gy = 2, chunk = 256

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
  split(k, ko, ki, chunk)
  reorder({ko, ii, ji, ki})
  communicate(A, jo)
  communicate({B, C}, ko)
  substitute({ii, ji, ki}, gemm)
}
--- stdout
# A(i, j) = B(i, k) * C(k, j)

forall(i) forall(j) forall(k) A(i, j) += B(i, k) * C(k, j)

# after distribute({i, j}, {io, jo}, {ii, ji}, M)
forall(io) forall(jo) forall(ii) forall(ji) forall(k) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1])

# after split(k, ko, ki, chunk)
forall(io) forall(jo) forall(ii) forall(ji) forall(ko) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1]),
         split(k, ko, ki, chunk)

# after reorder({ko, ii, ji, ki})
forall(io) forall(jo) forall(ko) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1]),
         split(k, ko, ki, chunk)

# after communicate(A, jo)
forall(io) forall(jo) forall(ko) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1]),
         split(k, ko, ki, chunk), communicate(A, jo)

# after communicate({B, C}, ko)
forall(io) forall(jo) forall(ko) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1]),
         split(k, ko, ki, chunk), communicate(A, jo), communicate(B, ko), communicate(C, ko)

# after substitute({ii, ji, ki}, gemm)
forall(io) forall(jo) forall(ko) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. divide(i, io, ii, gx), divide(j, jo, ji, gy), distribute(io, M[0]), distribute(jo, M[1]),
         split(k, ko, ki, chunk), communicate(A, jo), communicate(B, ko), communicate(C, ko),
         substitute({ii, ji, ki}, gemm)

# one process
# processors: M = grid(gx, gy)
# blocks: |ii| = ceil_div(m, gx), |ji| = ceil_div(n, gy)
for all P(io, jo) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, jo * |ji| : (jo + 1) * |ji|]
    for ko in 0 .. ceil_div(q, chunk):
        fetch B[io * |ii| : (io + 1) * |ii|, ko * chunk : (ko + 1) * chunk]
        fetch C[ko * chunk : (ko + 1) * chunk, jo * |ji| : (jo + 1) * |ji|]
        gemm(ii, ji, ki): A(i, j) += B(i, k) * C(k, j)
            ii in 0 .. min(|ii|, m - io * |ii|), i = io * |ii| + ii
            ji in 0 .. min(|ji|, n - jo * |ji|), j = jo * |ji| + ji
            ki in 0 .. min(chunk, q - ko * chunk), k = ko * chunk + ki
        release C
        release B
    reduce A
