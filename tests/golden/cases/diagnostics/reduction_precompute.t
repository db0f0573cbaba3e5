# run: check {file}
# status: 2
--- program
param n = 4
tensor x(n): f64
tensor A(n, n): f64
x(i) = max({j}, A(i, j)) * A(i, i)
schedule x {
  precompute(max({j}, A(i, j)), {i}, {i}, W)
}
--- stderr
reduction_precompute.distal:6:14: error: cannot precompute: an explicit reduction is computed ahead of the rest without a command
   6 |   precompute(max({j}, A(i, j)), {i}, {i}, W)
     |              ^~~~~~~~~~~~~~~~~
