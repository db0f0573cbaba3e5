# run: explain -Werror {file}
# status: 2
--- program
param n = 300
machine M = grid(2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
tensor D(n, n): f64
place A(x, y) -> M(x)
A(i, l) = B(i, j) * C(j, k) * D(k, l)
schedule A {
  distribute({i}, {io}, {ii}, M)
}
--- stderr
distal: error: 'explain' does not take -W, an option of 'check', 'plan' and 'run'
'distal help' lists commands and options
