# A and its values are where B is: it has the first levels of B on each rank. D is assembled, as ranks have parts of each
# of its sums.
# run: explain {file}
--- program
machine M = grid(2)
tensor B(8, 6, 4): f64, csf
tensor C(8, 6, 4): f64, csf
tensor A(8, 6): f64, dcsr
tensor D(8, 6): f64, dcsr
tensor c(4): f64
place B(i, j, k) -> M(i)
place A(i, j) -> M(i)
place C(i, j, k) -> M(k)
place D(i, j) -> M(i)
place c(k) -> M(*)
A(i, j) = B(i, j, k) * c(k)
D(i, j) = C(i, j, k) * c(k)
--- stdout
# A(i, j) = B(i, j, k) * c(k)

forall(i) forall(j) forall(k) A(i, j) += B(i, j, k) * c(k)

# with the defaults
forall(io) forall(ii) forall(j) forall(k) A(i, j) += B(i, j, k) * c(k)
    s.t. divide(i, io, ii, 2), distribute(io, M[0])

# one process
# processors: M = grid(2)
for all P(io) in parallel:
    accumulate A[io * 4 : (io + 1) * 4, :]
    fetch B[io * 4 : (io + 1) * 4, :, :]
    fetch c[:]
    # 'A' has the entries of the first 2 levels of 'B'
    # loops: 'A' is sparse
    for ii in 0 .. min(4, 8 - io * 4):
        i = io * 4 + ii
        for j in 0 .. 6:
            for k in 0 .. 4:
                A(i, j) += B(i, j, k) * c(k)
    release c
    release B
    reduce A

# D(i, j) = C(i, j, k) * c(k)

forall(i) forall(j) forall(k) D(i, j) += C(i, j, k) * c(k)

# with the defaults
forall(io) forall(ii) forall(j) forall(k) D(i, j) += C(i, j, k) * c(k)
    s.t. divide(i, io, ii, 2), distribute(io, M[0])

# one process
# processors: M = grid(2)
for all P(io) in parallel:
    accumulate D[io * 4 : (io + 1) * 4, :]
    fetch C[io * 4 : (io + 1) * 4, :, :]
    fetch c[:]
    # entries of 'D' are found in the order in which they are stored
    # loops: 'D' is sparse
    for ii in 0 .. min(4, 8 - io * 4):
        i = io * 4 + ii
        for j in 0 .. 6:
            for k in 0 .. 4:
                D(i, j) += C(i, j, k) * c(k)
    release c
    release C
    reduce D
