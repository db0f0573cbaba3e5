# run: explain {file}
--- program
param n = 7, m = 5
machine M = grid(2)
tensor a(n): f64
tensor b(n): f64
tensor B(n, m): f64
tensor c(m): f64
place a(x) -> M(x)
place B(x, y) -> M(x)
a(i) = b(i) - 2 * B(i, j) * c(j)
--- stdout
# a(i) = b(i) - 2 * B(i, j) * c(j)

forall(i) a(i) = b(i) ;
forall(i) forall(j) a(i) += -(2 * B(i, j) * c(j))

# with the defaults
forall(io) forall(ii) a(i) = b(i) ;
forall(io) forall(ii) forall(j) a(i) += -(2 * B(i, j) * c(j))
    s.t. divide(i, io, ii, 2), distribute(io, M[0])

# one process
# processors: M = grid(2)
# blocks: |ii| = ceil_div(n, 2)
for all P(io) in parallel:
    accumulate a[io * |ii| : (io + 1) * |ii|]
    fetch b[io * |ii| : (io + 1) * |ii|]
    # loops: nothing is summed
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        a(i) = b(i)
    release b
    reduce a
for all P(io) in parallel:
    accumulate a[io * |ii| : (io + 1) * |ii|]
    fetch B[io * |ii| : (io + 1) * |ii|, :]
    fetch c[:]
    gemv(ii, j): a(i) += -(2 * B(i, j) * c(j))
        ii in 0 .. min(|ii|, n - io * |ii|), i = io * |ii| + ii
        j in 0 .. m
    release c
    release B
    reduce a
