# What entries cannot balance.
# run: check {file}
# status: 2
--- program
machine M = grid(2)
machine L = node grid(2), core grid(2)
tensor B(8, 8): f64, csr; tensor C(8, 8): f64, csc; tensor D(8, 8): f64, csr; tensor E(8, 8): f64, csr
tensor F(8, 8): f64, csr; tensor G(8, 8): f64, csr; tensor a(8): f64; tensor b(8): f64; tensor c(8): f64; tensor d(8): f64
place B(x, y) -> M(weighted(x))
place C(x, y) -> M(~fuse(x, y))
place D(x, y) -> L.node(cyclic(x, 2)), D(x, y) -> L.core(~x)
place E(x, y) -> L.node(~fuse(x, y)), E(x, y) -> L.core(y)
place F(x, y) -> L.node(weighted(x)), F(x, y) -> L.core(x)
place G(x, y) -> L.node(weighted(x, F)), G(x, y) -> L.core(~x)
place a(x) -> M(weighted(x, B)
place b(z) -> M(weighted(z, B))
place c(x) -> L.node(weighted(x, F)), c(x) -> L.core(weighted(x, F))
place d(x) -> L.node(weighted(x, B)), d(x) -> L.core(weighted(x, B))
--- stderr
place_balanced.distal:6:20: error: 'C' is divided by its entries in the order in which they are stored: write '~fuse(y, x)'
   6 | place C(x, y) -> M(~fuse(x, y))
     |                    ^~~~~~~~~~~
place_balanced.distal:7:58: error: a level around this one partitions mode 'x' block-cyclically, and entries balance contiguous parts: write 'cyclic' inside of '~x', or 'x' here
   7 | place D(x, y) -> L.node(cyclic(x, 2)), D(x, y) -> L.core(~x)
     |                                                          ^~
place_balanced.distal:8:25: error: mode 'y' is partitioned by another level as well, beside entries of fused modes: write '~fuse(x, y)' at both, which divides entries level by level
   8 | place E(x, y) -> L.node(~fuse(x, y)), E(x, y) -> L.core(y)
     |                         ^~~~~~~~~~~
place_balanced.distal:10:60: error: the entries of 'F' balance mode 'x' at a level around this one, so that those of 'G' cannot: write 'weighted(x, F)' or 'x' here
  10 | place G(x, y) -> L.node(weighted(x, F)), G(x, y) -> L.core(~x)
     |                                                            ^~
place_balanced.distal:11:31: error: expected ',' or ')', found end of line
  11 | place a(x) -> M(weighted(x, B)
     |                               ^
place_balanced.distal:12:26: error: no placement of 'B' before this one balances a mode with the name 'z', as 'place B(..., z, ...) -> M(weighted(z))' does
  12 | place b(z) -> M(weighted(z, B))
     |                          ^~~~
place_balanced.distal:13:63: error: the placement of 'F' does not balance mode 'x' at this level: write 'x' here, too
  13 | place c(x) -> L.node(weighted(x, F)), c(x) -> L.core(weighted(x, F))
     |                                                               ^~~~
place_balanced.distal:14:63: error: no placement of 'B' before this one balances a mode with the name 'x' at this level, as 'place B(..., x, ...) -> L(weighted(x))' does
  14 | place d(x) -> L.node(weighted(x, B)), d(x) -> L.core(weighted(x, B))
     |                                                               ^~~~
