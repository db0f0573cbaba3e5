# run: check {file}
# status: 2
--- program
param n = 12, g = 2, h = 3
machine M = grid(g, h)
machine L = node grid(g), core grid(h)
machine N = grid(g * h)
tensor B(n, n): f64
tensor C(n, n): f64
tensor P(n, n): f64
tensor Q(n, n): f64
tensor R(n, n): f64
tensor I(n, n): i32
place P(x, y) -> M(x, y)
place Q(x, y) -> L.node(x), Q(z, w) -> L.core(z)
place R(x, y) -> M(0, 1)
tensor a(n): f64
tensor b(n): f64
a(i) = B(i, i) / (C(i, i) + P(i, j))
b(i) = B(i, j) * (C(i, j) + P(i, k)) / (C(i, k) + P(j, k) - B(i, i))
--- stderr
expressions.distal:16:18: error: the terms of this divisor are summed over different variables: compute the divisor in a statement of its own first
  16 | a(i) = B(i, i) / (C(i, i) + P(i, j))
     |                  ^~~~~~~~~~~~~~~~~~~
expressions.distal:17:40: error: the terms of this divisor are summed over different variables: compute the divisor in a statement of its own first
  17 | b(i) = B(i, j) * (C(i, j) + P(i, k)) / (C(i, k) + P(j, k) - B(i, i))
     |                                        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
