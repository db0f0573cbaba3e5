# The value of the option.
# run: plan {file} --pipeline yes
# status: 2
--- program
param n = 48
machine M = grid(2)
tensor A(n, n): f32
tensor B(n, n): f32
tensor C(n, n): f32
place A(x, y) -> M(x)
place B(x, y) -> M(y)
place C(x, y) -> M(x)
A(i, j) = B(i, k) * C(k, j)
schedule A {
  distribute({i}, {io}, {ii}, M)
  split(k, ko, ki, 8)
  reorder({ko, ii, j, ki})
  communicate({B, C}, ko)
}
--- stderr
distal: error: invalid value 'yes' for --pipeline: expected on or off
'distal help' lists commands and options
