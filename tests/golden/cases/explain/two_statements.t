# run: explain {file}
--- program
param n = 6
machine M = grid(2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor t(n): f64
place A(x, y) -> M(x)
place B(x, y) -> M(y)
A(i, j) = B(i, j)
t(i) = A(i, j)
--- stdout
# A(i, j) = B(i, j)

forall(i) forall(j) A(i, j) = B(i, j)

# with the defaults
forall(io) forall(ii) forall(j) A(i, j) = B(i, j)
    s.t. divide(i, io, ii, 2), distribute(io, M[0])

# one process
# processors: M = grid(2)
# blocks: |ii| = ceil_div(n, 2)
for all P(io) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, :]
    fetch B[io * |ii| : (io + 1) * |ii|, :]
    # loops: nothing is summed
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        for j in 0 .. n:
            A(i, j) = B(i, j)
    release B
    reduce A

# t(i) = A(i, j)

forall(i) forall(j) t(i) += A(i, j)

# with the defaults
forall(io) forall(ii) forall(j) t(i) += A(i, j)
    s.t. divide(i, io, ii, 2), distribute(io, M[0])

# one process
# processors: M = grid(2)
# blocks: |ii| = ceil_div(n, 2)
for all P(io) in parallel:
    accumulate t[io * |ii| : (io + 1) * |ii|]
    fetch A[io * |ii| : (io + 1) * |ii|, :]
    # loops: too few loops
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        for j in 0 .. n:
            t(i) += A(i, j)
    release A
    reduce t
