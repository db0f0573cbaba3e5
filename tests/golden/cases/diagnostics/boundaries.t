# Boundaries that do not divide a mode, and levels that cannot be divided so.
# run: check {file}
# status: 2
--- program
param n = 10
machine M = grid(3)
machine L = node grid(2), core grid(2)
tensor A(n): f64
tensor B(n): f64
tensor C(n): f64
tensor D(n): f64
tensor E(n): f64
tensor F(n): f64
tensor G(n): f64
tensor H(n): f64
tensor I(n): f64
tensor S(n, n): f64, csr
tensor T(n, n): f64, csr
place A(x) -> M(blocks(x, {0, 4, n}))
place B(x) -> M(blocks(x, {1, 4, 6, n}))
place C(x) -> M(blocks(x, {0, 6, 4, n}))
place D(x) -> M(blocks(x, {0, 4, 6, n - 1}))
place E(x) -> M(blocks(x, 4))
place F(x) -> M(blocks(x, {0, k, 6, n}))
place G(x) -> M(balanced(x, 2))
place H(x) -> L.node(x), H(x) -> L.core(blocks(x, {0, 5, n}))
place I(x) -> L.node(cyclic(x, 2)), I(x) -> L.core(balanced(x))
place S(x, y) -> L.node(balanced(x)), S(x, y) -> L.core(weighted(x))
place T(x, y) -> L.node(weighted(x)), T(x, y) -> L.core(balanced(x))
--- stderr
boundaries.distal:15:17: error: expected 4 boundaries from 0 to the extent, where each of 3 blocks begins and where the last one ends, not 3
  15 | place A(x) -> M(blocks(x, {0, 4, n}))
     |                 ^~~~~~~~~~~~~~~~~~~~
boundaries.distal:16:28: error: the first block begins at 0, not at 1
  16 | place B(x) -> M(blocks(x, {1, 4, 6, n}))
     |                            ^
boundaries.distal:17:34: error: boundaries do not decrease: 4 stands behind 6 (of an empty block, both are equal)
  17 | place C(x) -> M(blocks(x, {0, 6, 4, n}))
     |                                  ^
boundaries.distal:18:37: error: the last block ends at the extent of mode 'x' of 'D', 10, not at 9
  18 | place D(x) -> M(blocks(x, {0, 4, 6, n - 1}))
     |                                     ^~~~~
boundaries.distal:19:27: error: expected '{' and the boundaries, found '4'
  19 | place E(x) -> M(blocks(x, 4))
     |                           ^
boundaries.distal:20:31: error: unknown param 'k' (params: ranks n)
  20 | place F(x) -> M(blocks(x, {0, k, 6, n}))
     |                               ^
boundaries.distal:21:27: error: expected ')', found ','
  21 | place G(x) -> M(balanced(x, 2))
     |                           ^
boundaries.distal:22:41: error: boundaries are those of the whole mode 'x', which a level around this one partitions already: write 'balanced(x)' or 'x' here
  22 | place H(x) -> L.node(x), H(x) -> L.core(blocks(x, {0, 5, n}))
     |                                         ^~~~~~~~~~~~~~~~~~~~
boundaries.distal:23:52: error: a level around this one partitions mode 'x' block-cyclically, and 'balanced(x)' divides contiguous parts: write 'cyclic' inside of 'balanced(x)', or 'x' here
  23 | place I(x) -> L.node(cyclic(x, 2)), I(x) -> L.core(balanced(x))
     |                                                    ^~~~~~~~~~~
boundaries.distal:24:57: error: 'weighted(x)' is not supported inside of 'balanced(x)' yet: entries balance mode 'x' at both levels or at none
  24 | place S(x, y) -> L.node(balanced(x)), S(x, y) -> L.core(weighted(x))
     |                                                         ^~~~~~~~~~~
boundaries.distal:25:57: error: 'balanced(x)' is not supported inside of 'weighted(x)' yet: entries balance mode 'x' at both levels or at none
  25 | place T(x, y) -> L.node(weighted(x)), T(x, y) -> L.core(balanced(x))
     |                                                         ^~~~~~~~~~~
