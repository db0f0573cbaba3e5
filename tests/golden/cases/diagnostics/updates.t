# What the left side may not stand on the right for.
# run: check {file}
# status: 2
--- program
param n = 4
tensor X(n, n): f64
tensor S(n, n): f64, csr
tensor T(n, n): f64, csr
tensor x(n): f64
tensor s: f64
X(i, j) = X(j, i)
X(i, j) += 2 * X(i, i)
x(i) = sqrt(x(j)) + s
X(i, j) = X(i, j) / sum({k}, X(k, j)) * x(j) + X(j, j)
S(i, j) = S(i, j) + x(i)
--- stderr
updates.distal:7:11: error: 'X' is assigned by this statement, which may read only the element of it that it computes, 'X(i, j)'
   7 | X(i, j) = X(j, i)
     |           ^~~~~~~
updates.distal: note: to read others, compute into a second tensor, X_new(i, j) = ..., and copy it, X(i, j) = X_new(i, j)
updates.distal:8:16: error: 'X' is assigned by this statement, which may read only the element of it that it computes, 'X(i, j)'
   8 | X(i, j) += 2 * X(i, i)
     |                ^~~~~~~
updates.distal: note: to read others, compute into a second tensor, X_new(i, j) = ..., and copy it, X(i, j) = X_new(i, j)
updates.distal:9:13: error: 'x' is assigned by this statement, which may read only the element of it that it computes, 'x(i)'
   9 | x(i) = sqrt(x(j)) + s
     |             ^~~~
updates.distal: note: to read others, compute into a second tensor, x_new(i) = ..., and copy it, x(i) = x_new(i)
updates.distal:10:48: error: 'X' is assigned by this statement, which may read only the element of it that it computes, 'X(i, j)'
  10 | X(i, j) = X(i, j) / sum({k}, X(k, j)) * x(j) + X(j, j)
     |                                                ^~~~~~~
updates.distal: note: to read others, compute into a second tensor, X_new(i, j) = ..., and copy it, X(i, j) = X_new(i, j)
updates.distal:11:21: error: 'x(i)' has a value everywhere, so the result is not zero there and cannot be stored in 'S', which is sparse; store the result in a dense tensor
  11 | S(i, j) = S(i, j) + x(i)
     |                     ^~~~
