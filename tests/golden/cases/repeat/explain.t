# run: explain {file}
--- program
param n = 8
machine M = grid(2)
tensor x(n): f64
tensor y(n): f64
tensor s: f64
place x(i) -> M(i)
place y(i) -> M(i)
repeat 5 {
  y(i) = 2 * x(i)
  repeat n { s = y(i); x(i) = y(i) / s } until s < 0.5
}
--- stdout
# repeat 5 {

# y(i) = 2 * x(i)

forall(i) y(i) = 2 * x(i)

# with the defaults
forall(io) forall(ii) y(i) = 2 * x(i)
    s.t. divide(i, io, ii, 2), distribute(io, M[0])

# one process
# processors: M = grid(2)
# blocks: |ii| = ceil_div(n, 2)
for all P(io) in parallel:
    accumulate y[io * |ii| : (io + 1) * |ii|]
    fetch x[io * |ii| : (io + 1) * |ii|]
    # loops: nothing is summed
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        y(i) = 2 * x(i)
    release x
    reduce y

# repeat n {

# s = y(i)

forall(i) s += y(i)

# with the defaults
forall(io) forall(ii) s += y(i)
    s.t. divide(i, io, ii, 2), distribute(io, M[0])

# one process
# processors: M = grid(2)
# blocks: |ii| = ceil_div(n, 2)
for all P(io) in parallel:
    accumulate s
    fetch y[io * |ii| : (io + 1) * |ii|]
    # loops: too few loops
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        s += y(i)
    release y
    reduce s

# x(i) = y(i) / s

forall(i) x(i) = y(i) / s

# with the defaults
forall(io) forall(ii) x(i) = y(i) / s
    s.t. divide(i, io, ii, 2), distribute(io, M[0])

# one process
# processors: M = grid(2)
# blocks: |ii| = ceil_div(n, 2)
for all P(io) in parallel:
    accumulate x[io * |ii| : (io + 1) * |ii|]
    fetch y[io * |ii| : (io + 1) * |ii|]
    fetch s
    # loops: nothing is summed
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        x(i) = y(i) / s
    release s
    release y
    reduce x

# } until s < 0.5

# }
