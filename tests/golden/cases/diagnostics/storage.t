# Storage levels and the order of modes; what is not supported yet says so.
# run: check {file}
# status: 2
--- program
tensor A(4, 4): f64, {dense, compressed}, order(1, 0)
tensor B(4, 4): f64, {compressed(nonunique), singleton}
tensor C(4, 4): f64, {dense}
tensor D(4, 4): f64, {dense, sparse}
tensor E(4, 4): f64, {dense(nonunique), dense}
tensor F(4, 4): f64, order(1)
tensor G(4, 4): f64, order(0, 0)
tensor H(4, 4): f64, order(1, 2)
tensor I: f64, order(0)
tensor J(4, 4): f64, order(1, 0), {dense, dense}
tensor K(4, 4): f64, column_major
tensor L(4, 4): f64, order(x)
--- stderr
storage.distal:1:30: error: 'compressed' levels are not supported yet; write 'dense'
   1 | tensor A(4, 4): f64, {dense, compressed}, order(1, 0)
     |                              ^~~~~~~~~~
storage.distal:2:23: error: 'compressed' levels are not supported yet; write 'dense'
   2 | tensor B(4, 4): f64, {compressed(nonunique), singleton}
     |                       ^~~~~~~~~~~~~~~~~~~~~
storage.distal:2:46: error: 'singleton' levels are not supported yet; write 'dense'
   2 | tensor B(4, 4): f64, {compressed(nonunique), singleton}
     |                                              ^~~~~~~~~
storage.distal:3:22: error: tensor 'C' has 2 modes, so it takes 2 storage levels, not 1
   3 | tensor C(4, 4): f64, {dense}
     |                      ^~~~~~~
storage.distal:4:30: error: unknown storage level 'sparse' (levels: dense compressed singleton)
   4 | tensor D(4, 4): f64, {dense, sparse}
     |                              ^~~~~~
storage.distal:5:29: error: level 'dense' has no option 'nonunique' (only compressed(nonunique) has one)
   5 | tensor E(4, 4): f64, {dense(nonunique), dense}
     |                             ^~~~~~~~~
storage.distal:6:22: error: order(...) names each mode of 'F', 0 to 1, once
   6 | tensor F(4, 4): f64, order(1)
     |                      ^~~~~~~~
storage.distal:7:22: error: order(...) names each mode of 'G', 0 to 1, once
   7 | tensor G(4, 4): f64, order(0, 0)
     |                      ^~~~~~~~~~~
storage.distal:8:22: error: order(...) names each mode of 'H', 0 to 1, once
   8 | tensor H(4, 4): f64, order(1, 2)
     |                      ^~~~~~~~~~~
storage.distal:9:16: error: 'I' is a scalar: it has no modes to put in order
   9 | tensor I: f64, order(0)
     |                ^~~~~~~~
storage.distal:10:35: error: expected the end of the line, found '{'
  10 | tensor J(4, 4): f64, order(1, 0), {dense, dense}
     |                                   ^
storage.distal:11:22: error: expected storage levels {...} or order(...), found 'column_major'
  11 | tensor K(4, 4): f64, column_major
     |                      ^~~~~~~~~~~~
storage.distal:12:28: error: expected the number of a mode, found 'x'
  12 | tensor L(4, 4): f64, order(x)
     |                            ^
