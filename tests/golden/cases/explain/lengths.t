# Loops that are distributed onto blocks of different lengths are divided as these are.
# run: explain --stop-after spmd {file}
--- program
param n = 100
machine M = grid(4)
machine L = node grid(2), core grid(2)
tensor y(n): f64
tensor A(n, n): f64
tensor x(n): f64
tensor u(n): f64
place y(x) -> M(balanced(x))
place A(x, y) -> M(balanced(x))
place x(x) -> M(blocks(x, {0, 3, n / 2, n / 2, n}))
place u(x) -> L.node(blocks(x, {0, n / 3, n})), u(x) -> L.core(balanced(x))
y(i) = A(i, j) * x(j)
x(i) = y(i)
schedule x {
  distribute({i}, {io}, {ii}, x)
}
u(i) = 2 * u(i)
--- stdout
# processors: M = grid(4)
for all P(io) in parallel:
    accumulate y[ii_begin : ii_begin + ii_length]
    fetch A[ii_begin : ii_begin + ii_length, :]
    fetch x[:]
    gemv(ii, j): y(i) += A(i, j) * x(j)
        ii in 0 .. ii_length, i = ii_begin + ii
        j in 0 .. n
    release x
    release A
    reduce y

# processors: M = grid(4)
for all P(io) in parallel:
    accumulate x[ii_begin : ii_begin + ii_length]
    fetch y[ii_begin : ii_begin + ii_length]
    # loops: nothing is summed
    for ii in 0 .. ii_length:
        i = ii_begin + ii
        x(i) = y(i)
    release y
    reduce x

# processors: L = grid(2, 2)
for all P(io, iio) in parallel:
    accumulate u[ii_begin + iii_begin : ii_begin + (iii_begin + iii_length)]
    fetch u[ii_begin + iii_begin : ii_begin + (iii_begin + iii_length)]
    # loops: nothing is summed
    for iii in 0 .. iii_length:
        ii = iii_begin + iii
        i = ii_begin + ii
        u(i) = 2 * u(i)
    release u
    reduce u
