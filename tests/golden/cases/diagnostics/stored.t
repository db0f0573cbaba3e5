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
tensor a(n): i32
a(i) = B(i, i)
--- stderr
stored.distal:15:1: error: the right side is f64, which cannot be stored in 'a' of type i32; declare 'a' as f64
  15 | a(i) = B(i, i)
     | ^~~~
