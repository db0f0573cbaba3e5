# run: plan {file}
# status: 2
--- program
# Expressions that are wrong in themselves are found before anything is scheduled.
param n = 4

tensor B(n, n): f64
tensor C(n, n): f64
tensor z(n, n): c128
tensor T1(n, n): f64

T1(i, j) = B(i, k) * C(k, j)
schedule T1 {
  precompute(X(i, k) * C(k, j), {i, j}, {i, j}, W)
  precompute(B(i) * C(k, j), {i, j}, {i, j}, W)
  precompute(B(i, k + 1), {i, j}, {i, j}, W)
  precompute(B(i, k) *, {i, j}, {i, j}, W)
  precompute(B(i, k) C(k, j), {i, j}, {i, j}, W)
  precompute(squrt(B(i, k)), {i, k}, {i, k}, W)
  precompute(min(z(i, k), 2), {i, k}, {i, k}, W)
  precompute(n * B(i, k), {i, k}, {i, k}, W)
}
--- stderr
precompute_expression.distal:11:14: error: unknown tensor 'X' (tensors: B C z T1)
  11 |   precompute(X(i, k) * C(k, j), {i, j}, {i, j}, W)
     |              ^
precompute_expression.distal:12:14: error: 'B' has 2 modes, but 1 index is given here
  12 |   precompute(B(i) * C(k, j), {i, j}, {i, j}, W)
     |              ^~~~
precompute_expression.distal:13:19: error: the index 'k + 1' is not a variable, so this part cannot be computed ahead
  13 |   precompute(B(i, k + 1), {i, j}, {i, j}, W)
     |                   ^~~~~
precompute_expression.distal:14:23: error: expected a tensor, a number or '(', found ','
  14 |   precompute(B(i, k) *, {i, j}, {i, j}, W)
     |                       ^
precompute_expression.distal:15:22: error: expected ',' or an operator, found 'C'
  15 |   precompute(B(i, k) C(k, j), {i, j}, {i, j}, W)
     |                      ^
precompute_expression.distal:16:14: error: unknown function 'squrt'; did you mean 'sqrt'?
  16 |   precompute(squrt(B(i, k)), {i, k}, {i, k}, W)
     |              ^~~~~
precompute_expression.distal:17:18: error: 'min' is not defined on complex numbers, and this argument is c128
  17 |   precompute(min(z(i, k), 2), {i, k}, {i, k}, W)
     |                  ^~~~~~~
