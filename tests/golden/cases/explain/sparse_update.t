# The right side reads a workspace with what A has before the statement.
# run: explain {file}
--- program
machine M = grid(3)
tensor A(37, 37): f64, csr
tensor B(37, 37): f64, csr
place A(i, j) -> M(i)
place B(i, j) -> M(j)
A(i, j) = 2 * A(i, j) - B(i, j)
--- stdout
# A(i, j) = 2 * A(i, j) - B(i, j)

forall(i) forall(j) A(i, j) = 2 * old_A(i, j) - B(i, j)
    # old_A is 'A' as it is before this statement gives it other entries

# with the defaults
forall(io) forall(ii) forall(j) A(i, j) = 2 * old_A(i, j) - B(i, j)
    s.t. divide(i, io, ii, 3), distribute(io, M[0])

# one process
# processors: M = grid(3)
for all P(io) in parallel:
    accumulate A[io * 13 : (io + 1) * 13, :]
    fetch old_A[io * 13 : (io + 1) * 13, :]
    fetch B[io * 13 : (io + 1) * 13, :]
    # entries of 'A' are found in the order in which they are stored
    # loops: 'A' is sparse
    for ii in 0 .. min(13, 37 - io * 13):
        i = io * 13 + ii
        for j in 0 .. 37:
            A(i, j) = 2 * old_A(i, j) - B(i, j)
    release B
    release old_A
    reduce A
