# A level of a workspace is nonunique where the level below it needs that, so nothing says it.
# run: check {file}
# status: 2
--- program
tensor A(4, 4): f64
tensor B(4, 4): f64, csr
tensor C(4, 4): f64, csr
tensor D(4, 4): f64, csr
A(i, l) = B(i, j) * C(j, k) * D(k, l)
schedule A { precompute(B(i, j) * C(j, k), {i, k}, {i, k}, W, {compressed(nonunique), singleton}) }
--- stderr
workspace_level_options.distal:6:74: error: levels of a workspace have no options: a level above 'singleton' is 'nonunique' without one
   6 | schedule A { precompute(B(i, j) * C(j, k), {i, k}, {i, k}, W, {compressed(nonunique), singleton}) }
     |                                                                          ^
