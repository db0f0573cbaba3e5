# Block-cyclic placements that are none.
# run: check {file}
# status: 2
--- program
param b = 2, none = 0
machine M = grid(2, 2)
tensor A(8, 8): f64; tensor B(8, 8): f64; tensor C(8, 8): f64; tensor D(8, 8): f64; tensor E(8, 8): f64
tensor F(8, 8): f64; tensor G(8, 8): f64; tensor H(8, 8): f64; tensor I(8, 8): f64; tensor J(8, 8): f64
place A(x, y) -> M(cyclic(x, none), y)
place B(x, y) -> M(cyclic(x, b - 3), y)
place C(x, y) -> M(cyclic(x, 4294967296), y)
place D(x, y) -> M(cyclic(z, b), y)
place E(x, y) -> M(cyclic(x, b), x)
place F(x, y) -> M(cyclic(x), y)
place G(x, y) -> M(cyclic(x, c), y)
place H(x, y) -> M(cyclic(x, b, 3), y)
place I(x, y) -> M(cyclic(2, b), y)
place J(x, y) -> M(cyclic x, y)
--- stderr
place_cyclic.distal:5:30: error: expected a block of 1 to 2147483647 coordinates, not 0
   5 | place A(x, y) -> M(cyclic(x, none), y)
     |                              ^~~~
place_cyclic.distal:6:30: error: expected a block of 1 to 2147483647 coordinates, not -1
   6 | place B(x, y) -> M(cyclic(x, b - 3), y)
     |                              ^~~~~
place_cyclic.distal:7:30: error: expected a block of 1 to 2147483647 coordinates, not 4294967296
   7 | place C(x, y) -> M(cyclic(x, 4294967296), y)
     |                              ^~~~~~~~~~
place_cyclic.distal:8:27: error: 'z' does not name a mode of 'D' (named on the left: x y)
   8 | place D(x, y) -> M(cyclic(z, b), y)
     |                           ^
place_cyclic.distal:9:34: error: 'x' is already partitioned by another dimension of this arrow
   9 | place E(x, y) -> M(cyclic(x, b), x)
     |                                  ^
place_cyclic.distal:10:28: error: expected ',' and the length of a block, found ')'
  10 | place F(x, y) -> M(cyclic(x), y)
     |                            ^
place_cyclic.distal:11:30: error: unknown param 'c' (params: ranks b none)
  11 | place G(x, y) -> M(cyclic(x, c), y)
     |                              ^
place_cyclic.distal:12:31: error: expected ')', found ','
  12 | place H(x, y) -> M(cyclic(x, b, 3), y)
     |                               ^
place_cyclic.distal:13:27: error: expected the name of a mode, found '2'
  13 | place I(x, y) -> M(cyclic(2, b), y)
     |                           ^
place_cyclic.distal:14:20: error: 'cyclic' does not name a mode of 'J' (named on the left: x y)
  14 | place J(x, y) -> M(cyclic x, y)
     |                    ^~~~~~
place_cyclic.distal:14:27: error: expected ',' or ')', found 'x'
  14 | place J(x, y) -> M(cyclic x, y)
     |                           ^
