# What the warning says to write.
# run: check {file}
--- program
param n = 1000, p = 4
machine M = grid(p)
tensor y(n): f64
tensor A(n, n): f64
tensor x(n): f64
place y(i) -> M(i)
place A(i, j) -> M(j)
place x(j) -> M(j)
y(i) = A(i, j) * x(j)
schedule y {
  distribute({j}, {jo}, {ji}, A)
}
