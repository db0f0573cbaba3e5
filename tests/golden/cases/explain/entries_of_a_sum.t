# A sum has values where the tensor has none whose entries are divided: it is computed where the left side is.
# run: explain {file}
--- program
param n = 900
machine M = grid(4)
tensor B(n, n): f64, csr
tensor A(n, n): f64; tensor C(n, n): f64; tensor y(n): f64; tensor x(n): f64; tensor z(n): f64
place B(r, c) -> M(~fuse(r, c))
place A(r, c) -> M(r); place C(r, c) -> M(r); place y(r) -> M(r); place z(r) -> M(r)
A(i, j) = B(i, j) + C(i, j)
y(i) = B(i, j) * x(j) + z(i)
--- stdout
# A(i, j) = B(i, j) + C(i, j)

forall(i) forall(j) A(i, j) += B(i, j) + C(i, j)

# with the defaults
forall(io) forall(ii) forall(j) A(i, j) += B(i, j) + C(i, j)
    s.t. divide(i, io, ii, 4), distribute(io, M[0])

# one process
# processors: M = grid(4)
# blocks: |ii| = ceil_div(n, 4)
for all P(io) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, :]
    fetch B[io * |ii| : (io + 1) * |ii|, :]
    fetch C[io * |ii| : (io + 1) * |ii|, :]
    # loops: 'B' is sparse
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        for j in 0 .. n:
            A(i, j) += B(i, j) + C(i, j)
    release C
    release B
    reduce A

# y(i) = B(i, j) * x(j) + z(i)

forall(i) y(i) = z(i) ;
forall(i) forall(j) y(i) += B(i, j) * x(j)

# with the defaults
forall(io) forall(ii) y(i) = z(i) ;
forall(io) forall(ii) forall(j) y(i) += B(i, j) * x(j)
    s.t. divide(i, io, ii, 4), distribute(io, M[0])

# one process
# processors: M = grid(4)
# blocks: |ii| = ceil_div(n, 4)
for all P(io) in parallel:
    accumulate y[io * |ii| : (io + 1) * |ii|]
    fetch z[io * |ii| : (io + 1) * |ii|]
    # loops: nothing is summed
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        y(i) = z(i)
    release z
    reduce y
for all P(io) in parallel:
    accumulate y[io * |ii| : (io + 1) * |ii|]
    fetch B[io * |ii| : (io + 1) * |ii|, :]
    fetch x[:]  # rows ii that need nothing of other ranks come first, while it arrives
    # loops: 'B' is sparse
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        for j in 0 .. n:
            y(i) += B(i, j) * x(j)
    release x
    release B
    reduce y
