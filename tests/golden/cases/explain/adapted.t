# run: explain {file}
--- program
# The columns of B scaled by c, computed where B lies: by rows. Each process needs all of c and has a part of
# it at home, so the rest of c is all that moves. The same statement adapts to other placements:
# see adapted_columns.distal.
# B is m x n; `-p n=N` alone makes it square.
param n = 2000, m = n, p = 4

machine M = grid(p)

tensor A(m, n): f64
tensor B(m, n): f64
tensor c(n): f64

place A(x, y) -> M(x)
place B(x, y) -> M(x)
place c(x) -> M(x)

A(i, j) = B(i, j) * c(j)

schedule A {
  distribute({i}, {io}, {ii}, B)
}
--- stdout
# A(i, j) = B(i, j) * c(j)

forall(i) forall(j) A(i, j) = B(i, j) * c(j)

# after distribute({i}, {io}, {ii}, B)
forall(io) forall(ii) forall(j) A(i, j) = B(i, j) * c(j)
    s.t. divide(i, io, ii, p), distribute(io, M[0])

# one process
# processors: M = grid(p)
# blocks: |ii| = ceil_div(m, p)
for all P(io) in parallel:
    accumulate A[io * |ii| : (io + 1) * |ii|, :]
    fetch B[io * |ii| : (io + 1) * |ii|, :]
    fetch c[:]
    # loops: nothing is summed
    for ii in 0 .. min(|ii|, m - io * |ii|):
        i = io * |ii| + ii
        for j in 0 .. n:
            A(i, j) = B(i, j) * c(j)
    release c
    release B
    reduce A
