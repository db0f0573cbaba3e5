# run: plan {file}
# status: 2
# exit: 1
--- program
param n = 40000
machine M = grid(4)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x, y) -> M(x)
place B(x, y) -> M(y)
place C(x, y) -> M(x)
A(i, j) = B(i, k) * C(k, j)
schedule A {
  reorder({j, i, k})
  rotate(k, {j}, kr)
  divide(kr, kro, kri, 4)
  reorder({kro, j, i, kri})
  distribute(kro)
}
--- stderr
rotated_into_too_many_parts.distal:12:3: error: what one step uses of 'C' is in more than 32768 parts, because 'k' is rotated; communicate 'C' at a loop further inside
  12 |   rotate(k, {j}, kr)
     |   ^~~~~~~~~~~~~~~~~~
