# A function is a factor of its additive term: what its arguments are indexed by is summed over around the call.
# run: explain {file}
--- program
param n = 100, p = 4
machine M = grid(p)
tensor B(n, n): f64
tensor n_values: f64
tensor m(n): f64
tensor variance(n): f64
tensor D(n, n): f64
tensor A(n, n): f64
place B(x, y) -> M(x)
place m(x) -> M(x)
place variance(x) -> M(x)
place D(x, y) -> M(x)
place A(x, y) -> M(x)
m(i) = B(i, j) / n_values
D(i, j) = B(i, j) - m(i)
variance(i) = pow(D(i, j), 2) / n_values + min(m(i), 1e-6)
A(i, j) = -(B(i, j) - m(i)) * (1 + abs(m(j))) / sqrt(variance(i))
--- stdout
# m(i) = B(i, j) / n_values

forall(i) forall(j) m(i) += B(i, j) / n_values

# with the defaults
forall(io) forall(ii) forall(j) m(i) += B(i, j) / n_values
    s.t. divide(i, io, ii, p), distribute(io, M[0])

# one process
# processors: M = grid(p)
# blocks: |ii| = ceil_div(n, p)
for all P(io) in parallel:
    accumulate m[io * |ii| : (io + 1) * |ii|]
    fetch B[io * |ii| : (io + 1) * |ii|, :]
    fetch n_values
    # loops: too few loops
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        for j in 0 .. n:
            m(i) += B(i, j) / n_values
    release n_values
    release B
    reduce m

# D(i, j) = B(i, j) - m(i)

forall(i) forall(j) D(i, j) = B(i, j) - m(i)

# with the defaults
forall(io) forall(ii) forall(j) D(i, j) = B(i, j) - m(i)
    s.t. divide(i, io, ii, p), distribute(io, M[0])

# one process
# processors: M = grid(p)
# blocks: |ii| = ceil_div(n, p)
for all P(io) in parallel:
    accumulate D[io * |ii| : (io + 1) * |ii|, :]
    fetch B[io * |ii| : (io + 1) * |ii|, :]
    fetch m[io * |ii| : (io + 1) * |ii|]
    # loops: nothing is summed
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        for j in 0 .. n:
            D(i, j) = B(i, j) - m(i)
    release m
    release B
    reduce D

# variance(i) = pow(D(i, j), 2) / n_values + min(m(i), 1e-06)

forall(i) variance(i) = min(m(i), 1e-06) ;
forall(i) forall(j) variance(i) += pow(D(i, j), 2) / n_values

# with the defaults
forall(io) forall(ii) variance(i) = min(m(i), 1e-06) ;
forall(io) forall(ii) forall(j) variance(i) += pow(D(i, j), 2) / n_values
    s.t. divide(i, io, ii, p), distribute(io, M[0])

# one process
# processors: M = grid(p)
# blocks: |ii| = ceil_div(n, p)
for all P(io) in parallel:
    accumulate variance[io * |ii| : (io + 1) * |ii|]
    fetch m[io * |ii| : (io + 1) * |ii|]
    # loops: nothing is summed
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        variance(i) = min(m(i), 1e-06)
    release m
    reduce variance
for all P(io) in parallel:
    accumulate variance[io * |ii| : (io + 1) * |ii|]
    fetch D[io * |ii| : (io + 1) * |ii|, :]
    fetch n_values
    # loops: too few loops
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        for j in 0 .. n:
            variance(i) += pow(D(i, j), 2) / n_values
    release n_values
    release D
    reduce variance

# A(i, j) = -(B(i, j) - m(i)) * (1 + abs(m(j))) / sqrt(variance(i))

forall(i) forall(j) A(i, j) = -(B(i, j) - m(i)) * (1 + abs(m(j))) / sqrt(variance(i))

# with the defaults
forall(io) forall(ii) forall(j) A(i, j) = -(B(i, j) - m(i)) * (1 + abs(m(j))) / sqrt(variance(i))
    s.t. divide(i, io, ii, p), distribute(io, M[0])

# one process
# processors: M = grid(p)
# blocks: |ii| = ceil_div(n, p)
for all P(io) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, :]
    fetch B[io * |ii| : (io + 1) * |ii|, :]
    fetch m[io * |ii| : (io + 1) * |ii|]
    fetch m[:]
    fetch variance[io * |ii| : (io + 1) * |ii|]
    # loops: nothing is summed
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        for j in 0 .. n:
            A(i, j) = -(B(i, j) - m(i)) * (1 + abs(m(j))) / sqrt(variance(i))
    release variance
    release m
    release m
    release B
    reduce A
