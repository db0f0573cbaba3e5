# The elements of C and D at entries of B are fetched, which a workspace C(i, k) * D(j, k) would need in full.
# run: explain {file}
--- program
param n = 100
machine M = grid(4)
tensor A(n, n): f64, csr
tensor B(n, n): f64, csr
tensor C(n, n): f64
tensor D(n, n): f64
place A(x, y) -> M(x)
place B(x, y) -> M(x)
place C(x, y) -> M(x)
place D(x, y) -> M(x)
A(i, j) = B(i, j) * C(i, k) * D(j, k)
--- stdout
# A(i, j) = B(i, j) * C(i, k) * D(j, k)

forall(i) forall(j) forall(k) A(i, j) += B(i, j) * C(i, k) * D(j, k)

# with the defaults
forall(io) forall(ii) forall(j) forall(k) A(i, j) += B(i, j) * C(i, k) * D(j, k)
    s.t. divide(i, io, ii, 4), distribute(io, M[0])

# one process
# processors: M = grid(4)
# blocks: |ii| = ceil_div(n, 4)
for all P(io) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, :]
    fetch B[io * |ii| : (io + 1) * |ii|, :]
    fetch C[io * |ii| : (io + 1) * |ii|, :]  # rows ii that need nothing of other ranks come first, while it arrives
    fetch D[:, :]  # rows ii that need nothing of other ranks come first, while it arrives
    # loops: 'A' is sparse
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        for j in 0 .. n:
            for k in 0 .. n:
                A(i, j) += B(i, j) * C(i, k) * D(j, k)
    release D
    release C
    release B
    reduce A
