# The value of the option.
# run: plan {file} --shared-memory 0
# status: 2
--- program
param n = 48
machine M = grid(4)
tensor A(n, n): f32
tensor B(n, n): f32
tensor C(n, n): f32
place A(x, y) -> M(x)
place B(x, y) -> M(x)
place C(x, y) -> M(x)
A(i, j) = B(i, k) * C(k, j)
schedule A {
  distribute({i}, {io}, {ii}, M)
  divide(k, ko, ki, 4)
  reorder({ko, ii, j, ki})
  communicate({B, C}, ko)
}
--- stderr
distal: error: invalid value '0' for --shared-memory: expected on, off or a number of ranks
'distal help' lists commands and options
