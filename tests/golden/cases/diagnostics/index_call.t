# Loops with bounds that indices give are no library calls.
# run: plan {file}
# status: 2
--- program
param n = 8
tensor A(n, n): f64
tensor u(n): f64
tensor v(n): f64
v(i) = A(i, j + 1) * u(j)
schedule v { substitute({i, j}, gemv) }
--- stderr
index_call.distal:6:14: error: cannot substitute gemv: an index that is no variable, or a range; the loops must compute y(m) += alpha * A(m, k) * x(k)
   6 | schedule v { substitute({i, j}, gemv) }
     |              ^~~~~~~~~~~~~~~~~~~~~~~~
