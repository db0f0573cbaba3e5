# Storage levels and the order of modes.
# run: check {file}
# status: 2
--- program
param n = 4, big = 4000000000
tensor A(n, n): f64, {dense, compressed, dense}
tensor B(n, n): f64, {dense, nonunique}
tensor C(n, n): f64, {dense}
tensor D(n, n): f64, {dense, sparse}
tensor E(n, n): f64, {dense(nonunique), dense}
tensor F(n, n): f64, order(1)
tensor G(n, n): f64, order(0, 0)
tensor H(n, n): f64, order(1, 2)
tensor I: f64, order(0)
tensor J(n, n): f64, order(1, 0), {dense, dense}
tensor K(n, n): f64, column_major
tensor L(n, n): f64, order(x)
tensor M(n, n): f64, csx
tensor N(n, n, n): f64, csr
tensor O: f64, coo
tensor P(n, n): f64, csc, order(0, 1)
tensor Q(n, n): f64, csr, csr
tensor R(n, n): f64, {dense, compressed(unordered)}
tensor S(n, n, 5): f64, {compressed, singleton, singleton}
tensor T(n, n, 5): f64, {singleton, dense, dense}
tensor U(n, n, n, n): f64, {dense, compressed(nonunique), compressed, dense}
tensor V(n): f64, {compressed(nonunique)}
tensor W(n, n): f64, {dense, singleton}
tensor X(n, n): f64, 7
tensor Y(n, n): f64, compressed, compressed
tensor Z: f64(n, n)
--- stderr
storage.distal:2:22: error: tensor 'A' has 2 modes, so it takes 2 storage levels, not 3
   2 | tensor A(n, n): f64, {dense, compressed, dense}
     |                      ^~~~~~~~~~~~~~~~~~~~~~~~~~
storage.distal:3:30: error: unknown storage level 'nonunique' (levels: dense bitmap compressed singleton)
   3 | tensor B(n, n): f64, {dense, nonunique}
     |                              ^~~~~~~~~
storage.distal:4:22: error: tensor 'C' has 2 modes, so it takes 2 storage levels, not 1
   4 | tensor C(n, n): f64, {dense}
     |                      ^~~~~~~
storage.distal:5:30: error: unknown storage level 'sparse' (levels: dense bitmap compressed singleton)
   5 | tensor D(n, n): f64, {dense, sparse}
     |                              ^~~~~~
storage.distal:6:23: error: 'dense' stores each coordinate once, so it cannot be nonunique; write {dense, dense}
   6 | tensor E(n, n): f64, {dense(nonunique), dense}
     |                       ^~~~~~~~~~~~~~~~
storage.distal:7:22: error: order(...) names each mode of 'F', 0 to 1, once
   7 | tensor F(n, n): f64, order(1)
     |                      ^~~~~~~~
storage.distal:8:22: error: order(...) names each mode of 'G', 0 to 1, once
   8 | tensor G(n, n): f64, order(0, 0)
     |                      ^~~~~~~~~~~
storage.distal:9:22: error: order(...) names each mode of 'H', 0 to 1, once
   9 | tensor H(n, n): f64, order(1, 2)
     |                      ^~~~~~~~~~~
storage.distal:10:16: error: 'I' is a scalar: it has no modes to put in order
  10 | tensor I: f64, order(0)
     |                ^~~~~~~~
storage.distal:11:33: error: expected the end of the line, found ','
  11 | tensor J(n, n): f64, order(1, 0), {dense, dense}
     |                                 ^
storage.distal:12:22: error: unknown format 'column_major' (formats: csr csc dcsr coo csf)
  12 | tensor K(n, n): f64, column_major
     |                      ^~~~~~~~~~~~
storage.distal:13:28: error: expected the number of a mode, found 'x'
  13 | tensor L(n, n): f64, order(x)
     |                            ^
storage.distal:14:22: error: unknown format 'csx'; did you mean 'csr'?
  14 | tensor M(n, n): f64, csx
     |                      ^~~
storage.distal:15:25: error: 'csr' stores matrices, and tensor 'N' has 3 modes
  15 | tensor N(n, n, n): f64, csr
     |                         ^~~
storage.distal:16:16: error: 'O' is a scalar: it has no levels
  16 | tensor O: f64, coo
     |                ^~~
storage.distal:17:27: error: the order of modes is given by the levels before; leave order(...) out
  17 | tensor P(n, n): f64, csc, order(0, 1)
     |                           ^~~~~
storage.distal:18:27: error: expected order(...), found 'csr'
  18 | tensor Q(n, n): f64, csr, csr
     |                           ^~~
storage.distal:19:41: error: a level has no option 'unordered' (options: nonunique)
  19 | tensor R(n, n): f64, {dense, compressed(unordered)}
     |                                         ^~~~~~~~~
storage.distal:20:38: error: 'singleton' stores one coordinate for each position of the level above, so that level has to be nonunique; write {compressed(nonunique), singleton(nonunique), singleton}
  20 | tensor S(n, n, 5): f64, {compressed, singleton, singleton}
     |                                      ^~~~~~~~~
storage.distal:21:26: error: 'singleton' stores one coordinate for each position of the level above, and there is none; write {compressed, dense, dense}
  21 | tensor T(n, n, 5): f64, {singleton, dense, dense}
     |                          ^~~~~~~~~
storage.distal:22:36: error: only the level above a singleton level can be nonunique; write {dense, compressed, compressed, dense}
  22 | tensor U(n, n, n, n): f64, {dense, compressed(nonunique), compressed, dense}
     |                                    ^~~~~~~~~~~~~~~~~~~~~
storage.distal:23:20: error: only the level above a singleton level can be nonunique; write {compressed}
  23 | tensor V(n): f64, {compressed(nonunique)}
     |                    ^~~~~~~~~~~~~~~~~~~~~
storage.distal:24:30: error: 'singleton' stores one coordinate for each position of the level above, so that level has to be nonunique; write {compressed(nonunique), singleton}
  24 | tensor W(n, n): f64, {dense, singleton}
     |                              ^~~~~~~~~
storage.distal:25:22: error: expected storage levels {...}, a format such as csr, or order(...), found '7'
  25 | tensor X(n, n): f64, 7
     |                      ^
storage.distal:26:22: error: 'compressed' is the format of one level; those of all modes are in braces, as in {dense, compressed}
  26 | tensor Y(n, n): f64, compressed, compressed
     |                      ^~~~~~~~~~
storage.distal:27:14: error: unexpected '(' after the type; extents follow the name, Z(...): TYPE
  27 | tensor Z: f64(n, n)
     |              ^
