# run: explain {file}
--- program
param n = 7, m = 5
machine M = grid(3)
tensor A(n, m): c64
tensor B(m, n): c64
A(i, j) = B(j, i) * 0.5
schedule A {
  collapse(i, j, f)
  divide(f, fo, fi, 3)
  distribute(fo)
}
--- stdout
# A(i, j) = B(j, i) * 0.5

forall(i) forall(j) A(i, j) = B(j, i) * 0.5

# after collapse(i, j, f)
forall(f) A(i, j) = B(j, i) * 0.5
    s.t. collapse(i, j, f)

# after divide(f, fo, fi, 3)
forall(fo) forall(fi) A(i, j) = B(j, i) * 0.5
    s.t. collapse(i, j, f), divide(f, fo, fi, 3)

# after distribute(fo)
forall(fo) forall(fi) A(i, j) = B(j, i) * 0.5
    s.t. collapse(i, j, f), divide(f, fo, fi, 3), distribute(fo, M[0])

# one process
# processors: M = grid(3)
# blocks: |fi| = ceil_div(n * m, 3)
for all P(fo) in parallel:
    accumulate A[:, :]
    fetch B[:, :]
    # loops: nothing is summed
    for fi in 0 .. min(|fi|, n * m - fo * |fi|):
        f = fo * |fi| + fi
        j = f % m
        i = f / m
        A(i, j) = B(j, i) * 0.5
    release B
    reduce A
