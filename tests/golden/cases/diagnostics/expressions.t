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
expressions.distal:16:18: error: the addends of this sum, which is part of a product, a quotient or a call, are summed over different variables: 'C(i, i)' over none, 'P(i, j)' over j
  16 | a(i) = B(i, i) / (C(i, i) + P(i, j))
     |                  ^~~~~~~~~~~~~~~~~~~
expressions.distal: note: to sum the whole term, write: a(i) = sum({j}, B(i, i) / (C(i, i) + P(i, j)))
expressions.distal: note: to sum each addend before adding, write: a(i) = B(i, i) / (C(i, i) + sum({j}, P(i, j)))
expressions.distal:17:18: error: the addends of this sum, which is part of a product, a quotient or a call, are summed over different variables: 'C(i, j)' over j, 'P(i, k)' over k
  17 | b(i) = B(i, j) * (C(i, j) + P(i, k)) / (C(i, k) + P(j, k) - B(i, i))
     |                  ^~~~~~~~~~~~~~~~~~~
expressions.distal: note: to sum the whole term, write: b(i) = sum({j, k}, B(i, j) * (C(i, j) + P(i, k)) / (C(i, k) + P(j, k) - B(i, i)))
expressions.distal: note: to sum each addend before adding, write: b(i) = B(i, j) * (sum({j}, C(i, j)) + sum({k}, P(i, k))) / (sum({k}, C(i, k)) + sum({k}, sum({j}, P(j, k))) - B(i, i))
