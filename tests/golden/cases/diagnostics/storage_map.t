# Maps from modes to levels.
# run: check {file}
# status: 2
--- program
param n = 4
tensor A(n, n): f64, (i, j) -> (j : compressed(nonunique), j : singleton)
tensor B(n, n): f64, (i, i) -> (i : compressed(nonunique), i : singleton)
tensor C(n, n): f64, (i, j) -> (j : compressed)
tensor D(n, n): f64, (i, j, k) -> (j : compressed, i: compressed, k : dense)
tensor E(n, n): f64, (i, j) -> {dense, compressed}
tensor F(n, n): f64, (i, j) -> (j compressed, i: dense)
tensor G(n, n): f64, (i, j)
tensor H(n, n): f64, (i : dense, j : compressed)
tensor I(n, n): f64, (i, j) -> (i : dense, k : compressed)
tensor J(n, n): f64, (i, j) -> (i : dense, j : compressed), order(1, 0)
tensor K(n, n): f64, (i, j) -> (i : compressed, j : singleton)
tensor L(n, n): f64, (0, j) -> (i : compressed, j : singleton)
--- stderr
storage_map.distal:2:60: error: 'j' is stored by two levels; each mode has one
   2 | tensor A(n, n): f64, (i, j) -> (j : compressed(nonunique), j : singleton)
     |                                                            ^
storage_map.distal:3:26: error: 'i' names two modes; each mode has its own name
   3 | tensor B(n, n): f64, (i, i) -> (i : compressed(nonunique), i : singleton)
     |                          ^
storage_map.distal:3:60: error: 'i' is stored by two levels; each mode has one
   3 | tensor B(n, n): f64, (i, i) -> (i : compressed(nonunique), i : singleton)
     |                                                            ^
storage_map.distal:4:32: error: tensor 'C' has 2 modes, so it takes 2 storage levels, not 1
   4 | tensor C(n, n): f64, (i, j) -> (j : compressed)
     |                                ^~~~~~~~~~~~~~~~
storage_map.distal:5:22: error: tensor 'D' has 2 modes, not 3
   5 | tensor D(n, n): f64, (i, j, k) -> (j : compressed, i: compressed, k : dense)
     |                      ^~~~~~~~~
storage_map.distal:6:32: error: expected '(' and the levels, found '{'
   6 | tensor E(n, n): f64, (i, j) -> {dense, compressed}
     |                                ^
storage_map.distal:7:35: error: expected ':' and a storage level, found 'compressed'
   7 | tensor F(n, n): f64, (i, j) -> (j compressed, i: dense)
     |                                   ^~~~~~~~~~
storage_map.distal:8:28: error: expected '->' and the levels, found end of line
   8 | tensor G(n, n): f64, (i, j)
     |                            ^
storage_map.distal:9:25: error: expected ',' or ')', found ':'
   9 | tensor H(n, n): f64, (i : dense, j : compressed)
     |                         ^
storage_map.distal:10:44: error: 'k' does not name a mode of 'I' (named on the left: i j)
  10 | tensor I(n, n): f64, (i, j) -> (i : dense, k : compressed)
     |                                            ^
storage_map.distal:11:61: error: the order of modes is given by the levels before; leave order(...) out
  11 | tensor J(n, n): f64, (i, j) -> (i : dense, j : compressed), order(1, 0)
     |                                                             ^~~~~
storage_map.distal:12:53: error: 'singleton' stores one coordinate for each position of the level above, so that level has to be nonunique; write {compressed(nonunique), singleton}
  12 | tensor K(n, n): f64, (i, j) -> (i : compressed, j : singleton)
     |                                                     ^~~~~~~~~
storage_map.distal:13:23: error: expected the name of a mode, found '0'
  13 | tensor L(n, n): f64, (0, j) -> (i : compressed, j : singleton)
     |                       ^
