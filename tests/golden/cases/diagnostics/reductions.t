# run: check {file}
# status: 2
--- program
param n = 4
tensor v: f64
tensor x(n): f64
tensor A(n, n): f64
tensor z(n): c64
tensor c: c128
tensor s(n): f64, {compressed}
tensor S(n, n): f64, csr
tensor many(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1): f64
v = sum(x(i))
v = max({n}, x(i))
v = max({i, i}, A(i, i))
v = prod({}, x(i))
v = min({j}, x(i))
v = max({i}, z(i))
c max= z(i)
v = max({i}, s(i))
S(i, j) max= A(i, j)
S(i, j) min= A(i, k) * A(k, j)
s(i) = 2 * sum({j}, S(i, j))
S(i, j) *= A(i, j)
v = sum({i} x(i))
v = max({i}, x(i)
v /= x(i)
v = prod({i}, x(i) + A(i, j))
--- stderr
reductions.distal:10:5: error: 'sum' reduces over variables that it lists: sum({i}, x(i))
  10 | v = sum(x(i))
     |     ^~~
reductions.distal:11:10: error: 'n' is a param; a reduction is over index variables
  11 | v = max({n}, x(i))
     |          ^
reductions.distal:12:13: error: 'i' appears twice in the list
  12 | v = max({i, i}, A(i, i))
     |             ^
reductions.distal:13:10: error: expected the variables that 'prod' reduces over
  13 | v = prod({}, x(i))
     |          ^~
reductions.distal:14:10: error: 'j' indexes nothing in this reduction
  14 | v = min({j}, x(i))
     |          ^
reductions.distal:15:1: error: the right side is c64, which cannot be stored in 'v' of type f64; declare 'v' as c64, or store real(...)
  15 | v = max({i}, z(i))
     | ^
reductions.distal:16:1: error: 'max' is not defined on complex numbers, and this is c128
  16 | c max= z(i)
     | ^~~~~~~~~~~
reductions.distal:18:14: error: 'A(i, j)' has a value everywhere, so the result is not zero there and cannot be stored in 'S', which is sparse; store the result in a dense tensor
  18 | S(i, j) max= A(i, j)
     |              ^~~~~~~
reductions.distal:19:14: error: 'min({k}, A(i, k) * A(k, j))' has a value everywhere, so the result is not zero there and cannot be stored in 'S', which is sparse; store the result in a dense tensor
  19 | S(i, j) min= A(i, k) * A(k, j)
     |              ^~~~~~~~~~~~~~~~~
reductions.distal:20:8: error: '2 * sum({j}, S(i, j))' has a value everywhere, so the result is not zero there and cannot be stored in 's', which is sparse; store the result in a dense tensor
  20 | s(i) = 2 * sum({j}, S(i, j))
     |        ^~~~~~~~~~~~~~~~~~~~~
reductions.distal: note: an implicit sum, without 'sum', has entries only where its operands have
reductions.distal:22:13: error: expected ',' and what is reduced, found 'x'
  22 | v = sum({i} x(i))
     |             ^
reductions.distal:23:18: error: expected ')' or an operator, found end of line
  23 | v = max({i}, x(i)
     |                  ^
reductions.distal:24:3: error: there is no '/='; to divide, write '*= 1.0 / (...)'
  24 | v /= x(i)
     |   ^~
reductions.distal:25:15: error: the addends of this sum, which is part of a product, a quotient or a call, are summed over different variables: 'x(i)' over none, 'A(i, j)' over j
  25 | v = prod({i}, x(i) + A(i, j))
     |               ^~~~~~~~~~~~~~
reductions.distal: note: to sum the whole term, write: v = sum({j}, prod({i}, x(i) + A(i, j)))
reductions.distal: note: to sum each addend before adding, write: v = prod({i}, x(i) + sum({j}, A(i, j)))
