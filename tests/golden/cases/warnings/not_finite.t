# Of A only once: what it holds later follows from that.
# run: run --in B=iota --in S=ones {file}
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
--- stdout
s = nan+0i
--- stderr
not_finite.distal:10:1: warning: A(0, 0) is NaN, and no operand holds NaN or infinity [-Wnot-finite]
  10 | A(i, j) = sqrt(B(i, j) - 8)
     | ^~~~~~~~~~~~~~~~~~~~~~~~~~~
not_finite.distal:12:1: warning: an element of R is infinity, and no operand holds NaN or infinity [-Wnot-finite]
  12 | R(i, j) = 1e300 * 1e300 * S(i, j)
     | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
not_finite.distal:13:1: warning: s is NaN, and no operand holds NaN or infinity [-Wnot-finite]
  13 | s = 1e300 * 1e300 * B(i, i)
     | ^~~~~~~~~~~~~~~~~~~~~~~~~~~
