# What entries cannot balance.
# run: check {file}
# status: 2
--- program
machine M = grid(2)
machine L = node grid(2), core grid(2)
tensor B(8, 8): f64, csr; tensor C(8, 8): f64, csc; tensor D(8, 8): f64, csr; tensor E(8, 8): f64, csr
tensor a(8): f64; tensor b(8): f64
place B(x, y) -> M(weighted(x))
place C(x, y) -> M(~fuse(x, y))
place D(x, y) -> L.node(x), D(x, y) -> L.core(~x)
place E(x, y) -> L.node(~fuse(x, y)), E(x, y) -> L.core(y)
place a(x) -> M(weighted(x, B)
place b(z) -> M(weighted(z, B))
--- stderr
place_balanced.distal:6:20: error: 'C' can be cut where its entries follow each other as they are stored: write '~fuse(y, x)'
   6 | place C(x, y) -> M(~fuse(x, y))
     |                    ^~~~~~~~~~~
place_balanced.distal:7:47: error: mode 'x' is partitioned by another level as well, and only the outermost one can be balanced by entries: write '~x' there and 'x' inside of it, or '~fuse(x, y)' at both, which divides entries level by level
   7 | place D(x, y) -> L.node(x), D(x, y) -> L.core(~x)
     |                                               ^~
place_balanced.distal:8:25: error: mode 'y' is partitioned by another level as well, and only the outermost one can be balanced by entries: write '~fuse(x, y)' at both, which divides entries level by level
   8 | place E(x, y) -> L.node(~fuse(x, y)), E(x, y) -> L.core(y)
     |                         ^~~~~~~~~~~
place_balanced.distal:9:31: error: expected ',' or ')', found end of line
   9 | place a(x) -> M(weighted(x, B)
     |                               ^
place_balanced.distal:10:26: error: no placement of 'B' before this one balances a mode with the name 'z', as 'place B(..., z, ...) -> M(weighted(z))' does
  10 | place b(z) -> M(weighted(z, B))
     |                          ^~~~
