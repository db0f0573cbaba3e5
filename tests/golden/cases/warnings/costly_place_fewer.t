# Fewer processors would compute there.
# run: check {file}
--- program
param n = 1000, p = 4
machine M = grid(p)
tensor y(n): f64
tensor A(n, n): f64
tensor x(n): f64
place y(i) -> M(i)
place A(i, j) -> M(0)
place x(j) -> M(0)
y(i) = A(i, j) * x(j)
schedule y {
  reorder({j, i})
}
