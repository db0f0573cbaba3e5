# run: check {file}
# status: 2
--- program
tensor v: f64
tensor A(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1): f64
tensor B(1, 1): f64
v = max({r}, A(a, b, c, d, e, f, g, h, i, j, k, l) * B(m, r)) * 2
--- stderr
reduction_modes.distal:4:5: error: this reduction has 13 other variables, and a tensor has at most 12 modes
   4 | v = max({r}, A(a, b, c, d, e, f, g, h, i, j, k, l) * B(m, r)) * 2
     |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
