# Indices with offsets: bounds of the loop, and what is fetched.
# run: explain {file}
--- program
param n = 100
machine M = grid(4)
tensor u(n): f64
tensor v(n): f64
place u(x) -> M(x)
place v(x) -> M(x)
v(i) = u(i - 1) - 2 * u(i) + u(i + 1)
--- stdout
# v(i) = u(i - 1) - 2 * u(i) + u(i + 1)

forall(i) v(i) = u(i - 1) - 2 * u(i) + u(i + 1)

# with the defaults
forall(io) forall(ii) v(i) = u(i - 1) - 2 * u(i) + u(i + 1)
    s.t. divide(i, io, ii, 4), distribute(io, M[0])

# one process
# processors: M = grid(4)
# blocks: |ii| = ceil_div(n, 4)
for all P(io) in parallel:
    accumulate v[io * |ii| : (io + 1) * |ii|]
    fetch u[io * |ii| - 1 : (io + 1) * |ii| + 1]
    # loops: the index 'i - 1' is no variable
    for ii in max(0, 1 - io * |ii|) .. min(min(|ii|, n - io * |ii|), n - 1 - io * |ii|):
        i + 1 = io * |ii| + ii + 1
        i - 1 = io * |ii| + ii - 1
        i = io * |ii| + ii
        v(i) = u(i - 1) - 2 * u(i) + u(i + 1)
    release u
    reduce v
