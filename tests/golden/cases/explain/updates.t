# Updates: in place, as a sum that is added, and with a workspace for what is summed or sparse.
# run: explain --stop-after spmd {file}
--- program
param n = 100
machine M = grid(2)
tensor p(n): f64
tensor r(n): f64
tensor A(n, n): f64
tensor s(n): f64, {compressed}
tensor X(n, n): f64, csr
place p(x) -> M(x)
place X(x, y) -> M(~fuse(x, y))
p(i) = r(i) + 2 * p(i)
p(i) = p(i) - A(i, k) * r(k)
p(i) = p(i) * A(i, k)
p(i) += p(i) * s(i) - p(i) / max({k}, p(k))
X(i, j) = 2 * X(i, j) * r(j)
--- stdout
# processors: M = grid(2)
# blocks: |ii| = ceil_div(n, 2)
for all P(io) in parallel:
    accumulate p[io * |ii| : (io + 1) * |ii|]
    fetch r[io * |ii| : (io + 1) * |ii|]
    fetch p[io * |ii| : (io + 1) * |ii|]
    # loops: nothing is summed
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        p(i) = r(i) + 2 * p(i)
    release p
    release r
    reduce p

# processors: M = grid(2)
# blocks: |ii| = ceil_div(n, 2)
for all P(io) in parallel:
    accumulate p[io * |ii| : (io + 1) * |ii|]
    fetch A[io * |ii| : (io + 1) * |ii|, :]
    fetch r[:]
    gemv(ii, k): p(i) += -(A(i, k) * r(k))
        ii in 0 .. min(|ii|, n - io * |ii|), i = io * |ii| + ii
        k in 0 .. n
    release r
    release A
    reduce p

# processors: M = grid(2)
# blocks: |ii| = ceil_div(n, 2)
for all P(io) in parallel:
    accumulate sum_p[io * |ii| : (io + 1) * |ii|]
    fetch p[io * |ii| : (io + 1) * |ii|]
    fetch A[io * |ii| : (io + 1) * |ii|, :]
    # loops: too few loops
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        for k in 0 .. n:
            sum_p(i) += p(i) * A(i, k)
    release A
    release p
    reduce sum_p
for all P(io) in parallel:
    accumulate p[io * |ii| : (io + 1) * |ii|]
    fetch sum_p[io * |ii| : (io + 1) * |ii|]
    # loops: nothing is summed
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        p(i) = sum_p(i)
    release sum_p
    reduce p

# processors: M = grid(2)
# blocks: |ii| = ceil_div(n, 2)
for all P(io) in parallel:
    accumulate sum_p2[io * |ii| : (io + 1) * |ii|]
    fetch p[io * |ii| : (io + 1) * |ii|]
    fetch s[io * |ii| : (io + 1) * |ii|]
    # loops: 's' is sparse
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        sum_p2(i) += p(i) * s(i)
    release s
    release p
    reduce sum_p2
for all P(0) in parallel:
    accumulate max_p
    fetch p[:]
    # loops: a reduction that is not a sum
    for k in 0 .. n:
        max_p max= p(k)
    release p
    reduce max_p
for all P(io) in parallel:
    accumulate p[io * |ii| : (io + 1) * |ii|]
    fetch sum_p2[io * |ii| : (io + 1) * |ii|]
    fetch p[io * |ii| : (io + 1) * |ii|]
    fetch max_p
    # loops: an update
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        p(i) += sum_p2(i) - p(i) / max_p
    release max_p
    release p
    release sum_p2
    reduce p

# processors: M = grid(2)
# blocks: |ijpi| = ceil_div(ijp_count, 2)
for all P(ijpo) in parallel:
    accumulate X[:, :]
    fetch X[:, :]
    fetch r[:]
    # loops: 'X' is sparse
    for ijpi in 0 .. min(|ijpi|, ijp_count - ijpo * |ijpi|):
        ijp = ijpo * |ijpi| + ijpi
        X(i, j) = 2 * X(i, j) * r(j)
    release r
    release X
    reduce X
