# Levels that entries balance inside of each other: level by level, over rows and over positions.
# run: explain {file}
--- program
machine L = node grid(2), core grid(3)
tensor B(20, 30): f64, csr; tensor C(20, 30): f64, csr
tensor x(30): f64; tensor y(20): f64; tensor z(20): f64
place B(r, c) -> L.node(weighted(r)), B(r, c) -> L.core(~r)
place C(r, c) -> L.node(r), C(r, c) -> L.core(~fuse(r, c))
place y(r) -> L.node(weighted(r, B)), y(r) -> L.core(weighted(r, B))
y(i) = B(i, j) * x(j)
schedule y {
  distribute({i}, {io}, {ii}, B)
  distribute({ii}, {iio}, {iii}, B)
}
z(i) = C(i, j) * x(j)
--- stdout
# y(i) = B(i, j) * x(j)

forall(i) forall(j) y(i) += B(i, j) * x(j)

# after distribute({i}, {io}, {ii}, B)
forall(io) forall(ii) forall(j) y(i) += B(i, j) * x(j)
    s.t. balance(i, io, ii, 2, B), distribute(io, L.node[0])

# after distribute({ii}, {iio}, {iii}, B)
forall(io) forall(iio) forall(iii) forall(j) y(i) += B(i, j) * x(j)
    s.t. balance(i, io, ii, 2, B), distribute(io, L.node[0]), balance(ii, {io}, iio, iii, 3, B),
         distribute(iio, L.core[0])

# one process
# processors: L = grid(2, 3)
for all P(io, iio) in parallel:
    accumulate y[ii_begin + iii_begin : ii_begin + (iii_begin + iii_length)]
    fetch B[ii_begin + iii_begin : ii_begin + (iii_begin + iii_length), :]
    fetch x[:]  # rows iii that need nothing of other ranks come first, while it arrives
    # loops: 'B' is sparse
    for iii in 0 .. iii_length:
        ii = iii_begin + iii
        i = ii_begin + ii
        for j in 0 .. 30:
            y(i) += B(i, j) * x(j)
    release x
    release B
    reduce y

# z(i) = C(i, j) * x(j)

forall(i) forall(j) z(i) += C(i, j) * x(j)

# with the defaults
forall(ijpo) forall(ijpio) forall(ijpii) z(i) += C(i, j) * x(j)
    s.t. collapse(i, j, ijf), pos(ijf, ijp, C(i, j)), balance(ijp, ijpo, ijpi, 2, C),
         balance(ijpi, {ijpo}, ijpio, ijpii, 3, C), distribute(ijpo, L.node[0]),
         distribute(ijpio, L.core[0])

# one process
# processors: L = grid(2, 3)
for all P(ijpo, ijpio) in parallel:
    accumulate z[:]
    fetch C[:, :]
    fetch x[:]
    # loops: 'C' is sparse
    for ijpii in 0 .. ijpii_length:
        ijpi = ijpii_begin + ijpii
        ijp = ijpi_begin + ijpi
        z(i) += C(i, j) * x(j)
    release x
    release C
    reduce z
