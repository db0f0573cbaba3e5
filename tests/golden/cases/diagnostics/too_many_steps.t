# More steps of communication than anyone can wait for: n * n * n of them.
# run: plan {file} -p n=1000
# status: 2
--- program
param n = 8

tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64

A(i, j) = B(i, k) * C(k, j)

schedule A {
  communicate({B, C}, k)
}
--- stderr
too_many_steps.distal:7:11: error: the loops around the communication of 'B' have more than 10000000 iterations, which is too many for a plan; communicate it at a loop further outside
   7 | A(i, j) = B(i, k) * C(k, j)
     |           ^~~~~~~
