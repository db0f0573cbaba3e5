# run: explain {file}
--- program
# Redistribution as a statement: B by rows becomes A by columns. There is no schedule: the work goes where A
# lies, and each process receives what it does not have.
# B is m x n; `-p n=N` alone makes it square.
param n = 2000, m = n, p = 4

machine M = grid(p)

tensor A(m, n): f64
tensor B(m, n): f64

place A(x, y) -> M(y)
place B(x, y) -> M(x)

A(i, j) = B(i, j)
--- stdout
# A(i, j) = B(i, j)

forall(i) forall(j) A(i, j) = B(i, j)

# with the defaults
forall(jo) forall(i) forall(ji) A(i, j) = B(i, j)
    s.t. divide(j, jo, ji, p), distribute(jo, M[0])

# one process
# processors: M = grid(p)
# blocks: |ji| = ceil_div(n, p)
for all P(jo) in parallel:
    accumulate A[:, jo * |ji| : (jo + 1) * |ji|]
    fetch B[:, jo * |ji| : (jo + 1) * |ji|]
    # loops: nothing is summed
    for i in 0 .. m:
        for ji in 0 .. min(|ji|, n - jo * |ji|):
            j = jo * |ji| + ji
            A(i, j) = B(i, j)
    release B
    reduce A
