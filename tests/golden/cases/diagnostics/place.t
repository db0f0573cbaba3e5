# Tensor distribution notation on a flat machine.
# run: check {file}
# status: 2
--- program
param n = 8, g = 2
machine M = grid(g, g)
tensor A(n, n): f64; tensor B(n, n): f64; tensor C(n, n): f64; tensor D(n, n): f64; tensor E(n, n): f64
tensor F(n, n): f64; tensor G(n, n): f64; tensor H(n, n): f64; tensor I(n, n): f64; tensor J(n, n): f64
tensor a: f64
place A(x, y) -> M(x)
place A(x, y) -> M(x, y)
place B(x) -> M(x, *)
place C(x, x) -> M(x, *)
place D(x, y) -> M(x, x)
place E(x, y) -> M(x, yy)
place F(x, y) -> M(2, -1)
place G(x, y) -> N(x, y)
place H(x, y) M(x, y)
place I(x, 0) -> M(x, *)
place J(x, y) -> M(x, g), K(x, y) -> M(x, y)
place X(x, y) -> M(x, y)
place a -> M(*, 2)
place n -> M(*, *)
place
--- stderr
place.distal:6:18: error: 'M' has 2 dimensions, but 1 is given here
   6 | place A(x, y) -> M(x)
     |                  ^~~~
place.distal:7:7: error: 'A' already has a placement; a tensor has one
   7 | place A(x, y) -> M(x, y)
     |       ^
place.distal:8:7: error: 'B' has 2 modes, but 1 is named here
   8 | place B(x) -> M(x, *)
     |       ^~~~
place.distal:9:12: error: 'x' names two modes; each mode has its own name
   9 | place C(x, x) -> M(x, *)
     |            ^
place.distal:10:23: error: 'x' is already partitioned by another dimension of this arrow
  10 | place D(x, y) -> M(x, x)
     |                       ^
place.distal:11:23: error: 'yy' does not name a mode of 'E'; did you mean 'y'?
  11 | place E(x, y) -> M(x, yy)
     |                       ^~
place.distal:12:20: error: coordinate 2 is outside dimension 0 of machine 'M', which has size 2 (coordinates 0 to 1)
  12 | place F(x, y) -> M(2, -1)
     |                    ^
place.distal:12:23: error: expected the name of a mode, cyclic(...), balanced(...), blocks(...), weighted(...), '~', a coordinate or '*', found '-'
  12 | place F(x, y) -> M(2, -1)
     |                       ^
place.distal:13:18: error: unknown machine 'N' (machines: M)
  13 | place G(x, y) -> N(x, y)
     |                  ^
place.distal:14:15: error: expected '->' and a machine, found 'M'
  14 | place H(x, y) M(x, y)
     |               ^
place.distal:15:12: error: expected a name for a mode, found '0'
  15 | place I(x, 0) -> M(x, *)
     |            ^
place.distal:16:23: error: 'g' is a param; expected the name of a mode, cyclic(...), an integer or '*'
  16 | place J(x, y) -> M(x, g), K(x, y) -> M(x, y)
     |                       ^
place.distal:16:27: error: all arrows of a placement are about one tensor, here 'J'
  16 | place J(x, y) -> M(x, g), K(x, y) -> M(x, y)
     |                           ^
place.distal:17:7: error: unknown tensor 'X' (tensors: A B C D E F G H I J a)
  17 | place X(x, y) -> M(x, y)
     |       ^
place.distal:18:17: error: coordinate 2 is outside dimension 1 of machine 'M', which has size 2 (coordinates 0 to 1)
  18 | place a -> M(*, 2)
     |                 ^
place.distal:19:7: error: 'n' is a param, not a tensor
  19 | place n -> M(*, *)
     |       ^
place.distal:20:6: error: expected the name of a tensor, found end of line
  20 | place
     |      ^
