# run: check {file}
# status: 2
# A transfer inside the loops that a command is about.
--- program
tensor A(4, 4): f64
tensor B(4, 4): f64
tensor C(4, 4): f64
tensor D(4, 4): f64
A(i, j) = B(i, k) * C(k, j)
schedule A { communicate(B, j); substitute({j, k}, gemv) }
D(i, j) = B(i, k) * C(k, j)
schedule D { communicate(B, k); unroll(i, 2) }
--- stderr
leaf_transfers.distal:6:44: error: cannot substitute: 'j' is already used by communicate(B, j)
   6 | schedule A { communicate(B, j); substitute({j, k}, gemv) }
     |                                            ^~~~~~
