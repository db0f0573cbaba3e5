# Entries of B with the same k are found together, since C would be looked up for each of them: threads cannot
# take parts of such a loop over the rows of a processor, and do not by default.
# run: explain {file}
--- program
param n = 100
machine M = grid(4)
tensor A(n, n): f64
tensor B(n, n): f64, coo
tensor C(n, n): f64, {bitmap, dense}
place B(x, y) -> M(x)
A(i, j) = B(k, j) * C(i, j)
--- stdout
# A(i, j) = B(k, j) * C(i, j)

forall(i) forall(j) forall(k) A(i, j) += B(k, j) * C(i, j)

# with the defaults
forall(ko) forall(i) forall(j) forall(ki) A(i, j) += B(k, j) * C(i, j)
    s.t. divide(k, ko, ki, 4), distribute(ko, M[0])

# one process
# processors: M = grid(4)
# blocks: |ki| = ceil_div(n, 4)
for all P(ko) in parallel:
    accumulate A[:, :]
    fetch B[ko * |ki| : (ko + 1) * |ki|, :]
    fetch C[:, :]
    # loops: 'B' is sparse
    for ki in 0 .. min(|ki|, n - ko * |ki|):
        k = ko * |ki| + ki
        for j in 0 .. n:
            for i in 0 .. n:
                A(i, j) += B(k, j) * C(i, j)
    release C
    release B
    reduce A
