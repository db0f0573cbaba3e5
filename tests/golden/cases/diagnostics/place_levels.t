# Tensor distribution notation on a hierarchical machine: one arrow a level, outermost first.
# run: check {file}
# status: 2
--- program
machine L = node grid(2, 3), gpu grid(2)
machine M = grid(2)
tensor A(8, 8): f64; tensor B(8, 8): f64; tensor C(8, 8): f64; tensor D(8, 8): f64; tensor E(8, 8): f64
tensor F(8, 8): f64; tensor G(8, 8): f64; tensor H(8, 8): f64; tensor I(8, 8): f64; tensor J(8, 8): f64
place A(x, y) -> L.node(x, y)
place B(x, y) -> L.gpu(x), B(x, y) -> L.node(x, y)
place C(x, y) -> L.cpu(x, y)
place D(x, y) -> L.node(x, y), D(z, w) -> L.node(x, w)
place E(x, y) -> L.node(x, y), E(z, w) -> M(z)
place F(x, y) -> L.node(x, y), A(z, w) -> L.gpu(z)
place G(x, y) -> M.node(x)
place H(x, y) -> L(x, y)
place I(x, y) -> L.node(x, y), I(z, w) -> L(z)
place J(x, y) -> L.node(3, y), J(z) -> L.gpu(w)
--- stderr
place_levels.distal:5:7: error: level 'gpu' of machine 'L' has no arrow; to replicate 'A' over it, add ', A(x0, x1) -> L.gpu(*)'
   5 | place A(x, y) -> L.node(x, y)
     |       ^
place_levels.distal:6:20: error: level 'node' of machine 'L' comes before 'gpu'; arrows go from the outermost level inwards
   6 | place B(x, y) -> L.gpu(x), B(x, y) -> L.node(x, y)
     |                    ^~~
place_levels.distal:7:20: error: machine 'L' has no level 'cpu'; did you mean 'gpu'?
   7 | place C(x, y) -> L.cpu(x, y)
     |                    ^~~
place_levels.distal:8:45: error: level 'node' of machine 'L' is already placed
   8 | place D(x, y) -> L.node(x, y), D(z, w) -> L.node(x, w)
     |                                             ^~~~
place_levels.distal:8:50: error: 'x' does not name a mode of 'D' (named on the left: z w)
   8 | place D(x, y) -> L.node(x, y), D(z, w) -> L.node(x, w)
     |                                                  ^
place_levels.distal:9:43: error: all arrows of a placement lead to levels of one machine, here 'L'
   9 | place E(x, y) -> L.node(x, y), E(z, w) -> M(z)
     |                                           ^
place_levels.distal:10:32: error: all arrows of a placement are about one tensor, here 'F'
  10 | place F(x, y) -> L.node(x, y), A(z, w) -> L.gpu(z)
     |                                ^
place_levels.distal:11:20: error: machine 'M' has no levels; write 'M(...)'
  11 | place G(x, y) -> M.node(x)
     |                    ^~~~
place_levels.distal:12:18: error: 'L' has 3 dimensions, but 2 are given here
  12 | place H(x, y) -> L(x, y)
     |                  ^~~~~~~
place_levels.distal:13:43: error: only the levels of a hierarchical machine take an arrow each: write 'L.LEVEL(...)'
  13 | place I(x, y) -> L.node(x, y), I(z, w) -> L(z)
     |                                           ^
place_levels.distal:14:25: error: coordinate 3 is outside dimension 0 of machine 'L', which has size 2 (coordinates 0 to 1)
  14 | place J(x, y) -> L.node(3, y), J(z) -> L.gpu(w)
     |                         ^
place_levels.distal:14:32: error: 'J' has 2 modes, but 1 is named here
  14 | place J(x, y) -> L.node(3, y), J(z) -> L.gpu(w)
     |                                ^~~~
place_levels.distal:14:46: error: 'w' does not name a mode of 'J' (named on the left: z)
  14 | place J(x, y) -> L.node(3, y), J(z) -> L.gpu(w)
     |                                              ^
