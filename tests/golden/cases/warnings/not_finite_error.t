# run: run --in B=iota --in S=ones -Werror {file}
# status: 1
--- program
param n = 5
machine M = grid(2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor S(n, n): f64, csr
tensor R(n, n): f64, csr
tensor s: c128
place A(x, y) -> M(x)
place B(x, y) -> M(x)
A(i, j) = sqrt(B(i, j) - 8)
A(i, j) += 1
R(i, j) = 1e300 * 1e300 * S(i, j)
s = 1e300 * 1e300 * B(i, i)
--- stderr
not_finite_error.distal:10:1: error: A(0, 0) is NaN, and no operand holds NaN or infinity [-Werror=not-finite]
  10 | A(i, j) = sqrt(B(i, j) - 8)
     | ^~~~~~~~~~~~~~~~~~~~~~~~~~~
