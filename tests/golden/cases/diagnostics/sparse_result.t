# Results that are not zero where sparse operands are; the last statements are right.
# run: check {file}
# status: 2
--- program
param n = 4
tensor A(n, n): f64, csr
tensor B(n, n): f64, csr
tensor C(n, n): f64, coo
tensor D(n, n): f64
tensor I(n, n): i64, csr
tensor J(n, n): i64, csr
tensor x(n): f64
A(i, j) = exp(B(i, j))
A(i, j) = B(i, j) + 1
A(i, j) = B(i, j) + D(i, j) * x(j)
A(i, j) = D(i, j)
A(i, j) = B(i, j) / C(i, j)
A(i, j) = D(i, j) * 2 - C(i, j)
A(i, j) = pow(B(i, j), 0)
A(i, j) = pow(B(i, j), C(i, j))
A(i, j) = -log(B(i, j)) - C(i, j)
A(i, j) = max(B(i, j), 1)
A(i, j) = max(B(i, j), D(i, j))
A(i, j) += x(i)
A(i, j) = 0
A(i, j) = exp(B(i, j)) * C(i, j)
A(i, j) = max(B(i, j), 0) + min(1, C(i, j))
A(i, j) = pow(B(i, j), 2) - sqrt(-C(j, i)) + min(B(j, i), C(i, j))
A(i, j) = (B(i, j) + 1) * C(i, j) / x(j)
I(i, j) = 3 * J(i, j) / J(j, i)
D(i, j) = B(i, j) / C(i, j)
A(i, j) = x(i) * C(j, j)
--- stderr
sparse_result.distal:9:11: error: 'exp(B(i, j))' is not zero where its arguments are, so the result is not zero there and cannot be stored in 'A', which is sparse; store the result in a dense tensor
   9 | A(i, j) = exp(B(i, j))
     |           ^~~~~~~~~~~~
sparse_result.distal:10:21: error: '1' has a value everywhere, so the result is not zero there and cannot be stored in 'A', which is sparse; store the result in a dense tensor
  10 | A(i, j) = B(i, j) + 1
     |                     ^
sparse_result.distal:11:21: error: 'D(i, j) * x(j)' has a value everywhere, so the result is not zero there and cannot be stored in 'A', which is sparse; store the result in a dense tensor
  11 | A(i, j) = B(i, j) + D(i, j) * x(j)
     |                     ^~~~~~~~~~~~~~
sparse_result.distal:12:11: error: 'D(i, j)' has a value everywhere, so the result is not zero there and cannot be stored in 'A', which is sparse; store the result in a dense tensor
  12 | A(i, j) = D(i, j)
     |           ^~~~~~~
sparse_result.distal:13:11: error: 'B(i, j) / C(i, j)' divides by zero where the divisor has no entries, so the result is not zero there and cannot be stored in 'A', which is sparse; store the result in a dense tensor
  13 | A(i, j) = B(i, j) / C(i, j)
     |           ^~~~~~~~~~~~~~~~~
sparse_result.distal:14:11: error: 'D(i, j) * 2' has a value everywhere, so the result is not zero there and cannot be stored in 'A', which is sparse; store the result in a dense tensor
  14 | A(i, j) = D(i, j) * 2 - C(i, j)
     |           ^~~~~~~~~~~
sparse_result.distal:15:11: error: 'pow(B(i, j), 0)' is not zero where its arguments are, so the result is not zero there and cannot be stored in 'A', which is sparse; store the result in a dense tensor
  15 | A(i, j) = pow(B(i, j), 0)
     |           ^~~~~~~~~~~~~~~
sparse_result.distal:16:11: error: 'pow(B(i, j), C(i, j))' is not zero where its arguments are, so the result is not zero there and cannot be stored in 'A', which is sparse; store the result in a dense tensor
  16 | A(i, j) = pow(B(i, j), C(i, j))
     |           ^~~~~~~~~~~~~~~~~~~~~
sparse_result.distal:17:12: error: 'log(B(i, j))' is not zero where its arguments are, so the result is not zero there and cannot be stored in 'A', which is sparse; store the result in a dense tensor
  17 | A(i, j) = -log(B(i, j)) - C(i, j)
     |            ^~~~~~~~~~~~
sparse_result.distal:18:11: error: 'max(B(i, j), 1)' is not zero where its arguments are, so the result is not zero there and cannot be stored in 'A', which is sparse; store the result in a dense tensor
  18 | A(i, j) = max(B(i, j), 1)
     |           ^~~~~~~~~~~~~~~
sparse_result.distal:19:24: error: 'D(i, j)' has a value everywhere, so the result is not zero there and cannot be stored in 'A', which is sparse; store the result in a dense tensor
  19 | A(i, j) = max(B(i, j), D(i, j))
     |                        ^~~~~~~
sparse_result.distal:20:12: error: 'x(i)' has a value everywhere, so the result is not zero there and cannot be stored in 'A', which is sparse; store the result in a dense tensor
  20 | A(i, j) += x(i)
     |            ^~~~
sparse_result.distal:21:11: error: '0' has a value everywhere, so the result is not zero there and cannot be stored in 'A', which is sparse; store the result in a dense tensor
  21 | A(i, j) = 0
     |           ^
