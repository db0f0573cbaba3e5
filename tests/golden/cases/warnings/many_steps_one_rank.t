# On one rank nothing moves.
# run: check -n 1 {file}
--- program
param n = 300
machine M = grid(2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x, y) -> M(x)
place B(x, y) -> M(x)
place C(x, y) -> M(x)
A(i, l) = B(i, j) * C(j, l)
schedule A {
  distribute({i}, {io}, {ii}, M)
  reorder({ii, j, l})
  communicate({B, C}, j)
}
