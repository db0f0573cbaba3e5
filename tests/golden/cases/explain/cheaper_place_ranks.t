# Beyond 256 ranks the placement of the result decides.
# run: explain {file}
--- program
param n = 1000, p = 300
machine M = grid(p)
tensor y(n): f64
tensor A(n, n): f64
tensor x(n): f64
place y(i) -> M(i)
place A(i, j) -> M(j)
place x(j) -> M(j)
y(i) = A(i, j) * x(j)
--- stdout
# y(i) = A(i, j) * x(j)

forall(i) forall(j) y(i) += A(i, j) * x(j)

# with the defaults
forall(io) forall(ii) forall(j) y(i) += A(i, j) * x(j)
    s.t. divide(i, io, ii, p), distribute(io, M[0])

# one process
# processors: M = grid(p)
# blocks: |ii| = ceil_div(n, p)
for all P(io) in parallel:
    accumulate y[io * |ii| : (io + 1) * |ii|]
    fetch A[io * |ii| : (io + 1) * |ii|, :]
    fetch x[:]
    gemv(ii, j): y(i) += A(i, j) * x(j)
        ii in 0 .. min(|ii|, n - io * |ii|), i = io * |ii| + ii
        j in 0 .. n
    release x
    release A
    reduce y
