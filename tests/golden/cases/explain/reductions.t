# run: explain {file}
--- program
# A statement with explicit reductions, and one that is a reduction.
param n = 4, m = 6, g = 2
machine M = grid(g)
tensor S(n, m): f64
tensor A(n, m): f64
tensor v: f64
place S(i, j) -> M(i)
place A(i, j) -> M(i)
A(i, k) = exp(S(i, k) - max({j}, S(i, j))) / sum({j}, exp(S(i, j) - max({k}, S(i, k))))
v min= S(i, j)
--- stdout
# A(i, k) = exp(S(i, k) - max({j}, S(i, j))) / sum({j}, exp(S(i, j) - max({k_2}, S(i, k_2))))

forall(i) forall(k) A(i, k) = exp(S(i, k) - max_A(i)) / sum_A(i) where
forall(i) forall(j) sum_A(i) += exp(S(i, j) - max_A(i)) where
forall(i) forall(j) max_A(i) max= S(i, j)

# with the defaults
forall(io) forall(ii) forall(k) A(i, k) = exp(S(i, k) - max_A(i)) / sum_A(i) where
forall(io) forall(ii) forall(j) sum_A(i) += exp(S(i, j) - max_A(i)) where
forall(io) forall(ii) forall(j) max_A(i) max= S(i, j)
    s.t. divide(i, io, ii, g), distribute(io, M[0])

# one process
# processors: M = grid(g)
# blocks: |ii| = ceil_div(n, g)
for all P(io) in parallel:
    accumulate max_A[io * |ii| : (io + 1) * |ii|]
    fetch S[io * |ii| : (io + 1) * |ii|, :]
    # loops: a reduction that is not a sum
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        for j in 0 .. m:
            max_A(i) max= S(i, j)
    release S
    reduce max_A
for all P(io) in parallel:
    accumulate sum_A[io * |ii| : (io + 1) * |ii|]
    fetch S[io * |ii| : (io + 1) * |ii|, :]
    fetch max_A[io * |ii| : (io + 1) * |ii|]
    # loops: too few loops
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        for j in 0 .. m:
            sum_A(i) += exp(S(i, j) - max_A(i))
    release max_A
    release S
    reduce sum_A
for all P(io) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, :]
    fetch S[io * |ii| : (io + 1) * |ii|, :]
    fetch max_A[io * |ii| : (io + 1) * |ii|]
    fetch sum_A[io * |ii| : (io + 1) * |ii|]
    # loops: nothing is summed
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        for k in 0 .. m:
            A(i, k) = exp(S(i, k) - max_A(i)) / sum_A(i)
    release sum_A
    release max_A
    release S
    reduce A

# v min= S(i, j)

forall(i) forall(j) v min= S(i, j)

# with the defaults
forall(io) forall(ii) forall(j) v min= S(i, j)
    s.t. divide(i, io, ii, g), distribute(io, M[0])

# one process
# processors: M = grid(g)
# blocks: |ii| = ceil_div(n, g)
for all P(io) in parallel:
    accumulate v
    fetch S[io * |ii| : (io + 1) * |ii|, :]
    # loops: a reduction that is not a sum
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        for j in 0 .. m:
            v min= S(i, j)
    release S
    reduce v
