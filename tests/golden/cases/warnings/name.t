# run: plan -Wnone {file}
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
distal: error: invalid value 'none' for -W: expected error, error=NAME, no-error=NAME, NAME or no-NAME, where NAME is one of fused-product, many-steps, one-computes, costly-place, outside, unmatched-index, not-finite
'distal help' lists commands and options
