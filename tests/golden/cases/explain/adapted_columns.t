# run: explain {file}
--- program
# The columns of B scaled by c, computed where B lies: by columns. The part of c that a process needs is the
# one that it has, so nothing moves. The same statement on rows: adapted.distal.
# B is m x n; `-p n=N` alone makes it square.
param n = 2000, m = n, p = 4

machine M = grid(p)

tensor A(m, n): f64
tensor B(m, n): f64
tensor c(n): f64

place A(x, y) -> M(y)
place B(x, y) -> M(y)
place c(x) -> M(x)

A(i, j) = B(i, j) * c(j)

schedule A {
  distribute({j}, {jo}, {ji}, B)
}
--- stdout
# A(i, j) = B(i, j) * c(j)

forall(i) forall(j) A(i, j) = B(i, j) * c(j)

# after distribute({j}, {jo}, {ji}, B)
forall(jo) forall(i) forall(ji) A(i, j) = B(i, j) * c(j)
    s.t. divide(j, jo, ji, p), distribute(jo, M[0])

# one process
# processors: M = grid(p)
# blocks: |ji| = ceil_div(n, p)
for all P(jo) in parallel:
    accumulate A[:, jo * |ji| : (jo + 1) * |ji|]
    fetch B[:, jo * |ji| : (jo + 1) * |ji|]
    fetch c[jo * |ji| : (jo + 1) * |ji|]
    # loops: nothing is summed
    for i in 0 .. m:
        for ji in 0 .. min(|ji|, n - jo * |ji|):
            j = jo * |ji| + ji
            A(i, j) = B(i, j) * c(j)
    release c
    release B
    reduce A
