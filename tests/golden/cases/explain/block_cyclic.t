# run: explain {file}
--- program
# SUMMA on matrices that lie as ScaLAPACK has them: block-cyclic, in blocks of mb x nb (its descriptors' MB and
# NB) distributed round-robin over a gx x gy grid of processes (Blackford et al., 1997). `order(1, 0)` stores columns, as
# Fortran does, so what a process holds is the local array of ScaLAPACK. Nothing is redistributed: the loops
# follow A, and each process multiplies what it has in one piece.
# A is m x n, B is m x q, C is q x n; `-p n=N` alone makes all of them square.
param n = 1000, m = n, q = n, gx = 2, gy = 2, mb = 64, nb = 64

machine M = grid(gx, gy)

tensor A(m, n): f64, order(1, 0)
tensor B(m, q): f64, order(1, 0)
tensor C(q, n): f64, order(1, 0)

place A(x, y) -> M(cyclic(x, mb), cyclic(y, nb))
place B(x, y) -> M(cyclic(x, mb), cyclic(y, nb))
place C(x, y) -> M(cyclic(x, mb), cyclic(y, nb))

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j}, {io, jo}, {ii, ji}, A)
  split(k, ko, ki, nb)
  reorder({ko, ii, ji, ki})
  communicate(A, jo)
  communicate({B, C}, ko)
  substitute({ii, ji, ki}, gemm)
}
--- stdout
# A(i, j) = B(i, k) * C(k, j)

forall(i) forall(j) forall(k) A(i, j) += B(i, k) * C(k, j)

# after distribute({i, j}, {io, jo}, {ii, ji}, A)
forall(io) forall(jo) forall(ii) forall(ji) forall(k) A(i, j) += B(i, k) * C(k, j)
    s.t. cyclic(i, io, ii, mb), cyclic(j, jo, ji, nb), distribute(io, M[0]), distribute(jo, M[1])

# after split(k, ko, ki, nb)
forall(io) forall(jo) forall(ii) forall(ji) forall(ko) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. cyclic(i, io, ii, mb), cyclic(j, jo, ji, nb), distribute(io, M[0]), distribute(jo, M[1]),
         split(k, ko, ki, nb)

# after reorder({ko, ii, ji, ki})
forall(io) forall(jo) forall(ko) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. cyclic(i, io, ii, mb), cyclic(j, jo, ji, nb), distribute(io, M[0]), distribute(jo, M[1]),
         split(k, ko, ki, nb)

# after communicate(A, jo)
forall(io) forall(jo) forall(ko) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. cyclic(i, io, ii, mb), cyclic(j, jo, ji, nb), distribute(io, M[0]), distribute(jo, M[1]),
         split(k, ko, ki, nb), communicate(A, jo)

# after communicate({B, C}, ko)
forall(io) forall(jo) forall(ko) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. cyclic(i, io, ii, mb), cyclic(j, jo, ji, nb), distribute(io, M[0]), distribute(jo, M[1]),
         split(k, ko, ki, nb), communicate(A, jo), communicate(B, ko), communicate(C, ko)

# after substitute({ii, ji, ki}, gemm)
forall(io) forall(jo) forall(ko) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)
    s.t. cyclic(i, io, ii, mb), cyclic(j, jo, ji, nb), distribute(io, M[0]), distribute(jo, M[1]),
         split(k, ko, ki, nb), communicate(A, jo), communicate(B, ko), communicate(C, ko),
         substitute({ii, ji, ki}, gemm)

# one process
# processors: M = grid(gx, gy)
for all P(io, jo) in parallel:
    accumulate A[cyclic(io, mb), cyclic(jo, nb)]
    for ko in 0 .. ceil_div(q, nb):
        fetch B[cyclic(io, mb), ko * nb : (ko + 1) * nb]
        fetch C[ko * nb : (ko + 1) * nb, cyclic(jo, nb)]
        gemm(ii, ji, ki): A(ii, ji) += B(ii, k) * C(k, ji)
            ii in 0 .. m / (mb * gx) * mb + min(mb, max(0, m % (mb * gx) - io * mb))
            ji in 0 .. n / (nb * gy) * nb + min(nb, max(0, n % (nb * gy) - jo * nb))
            ki in 0 .. min(nb, q - ko * nb), k = ko * nb + ki
        release C
        release B
    reduce A
