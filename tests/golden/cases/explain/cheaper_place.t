# The placement of the result would move the whole matrix: that of the matrix moves partial results.
# run: explain {file}
--- program
param n = 1000, p = 4
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

# with the defaults, where A lies: 24000 bytes move; where y lies, 6024000 would
forall(jo) forall(i) forall(ji) y(i) += A(i, j) * x(j)
    s.t. divide(j, jo, ji, p), distribute(jo, M[0])

# one process
# processors: M = grid(p)
# blocks: |ji| = ceil_div(n, p)
for all P(jo) in parallel:
    accumulate y[:]
    fetch A[:, jo * |ji| : (jo + 1) * |ji|]
    fetch x[jo * |ji| : (jo + 1) * |ji|]
    gemv(i, ji): y(i) += A(i, j) * x(j)
        i in 0 .. n
        ji in 0 .. min(|ji|, n - jo * |ji|), j = jo * |ji| + ji
    release x
    release A
    reduce y
