# Declarations of tensors.
# run: check {file}
# status: 2
--- program
param n = 4
machine M = grid(2)
tensor A(n, n): f64
tensor A(n): f32
tensor M(n): f32
tensor B(n, n): f63
tensor C(n, -n): f64
tensor D(n, n) f64
tensor E(n, n: f64
tensor F(n n): f64
tensor G(4000000000, 4000000000): f64
tensor H(0, 9000000000000000000): f64
tensor place(3): f64
tensor I(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1): f64
tensor J(n, m): f64
tensor K(n): f64 f32
tensor L
tensro N(3): f64
A(i, j) = B(i, j) * C(j, i) + D(i, j) * E(i, j) * F(i, j) * G(i, j) * J(i, j)
--- stderr
tensor.distal:4:8: error: 'A' is already declared as a tensor; choose another name
   4 | tensor A(n): f32
     |        ^
tensor.distal:3:8: note: it is declared here
   3 | tensor A(n, n): f64
     |        ^
tensor.distal:5:8: error: 'M' is already declared as a machine; choose another name
   5 | tensor M(n): f32
     |        ^
tensor.distal:2:9: note: it is declared here
   2 | machine M = grid(2)
     |         ^
tensor.distal:6:17: error: unknown type 'f63'; did you mean 'f64'?
   6 | tensor B(n, n): f63
     |                 ^~~
tensor.distal:7:13: error: mode 1 of 'C' has extent -4; an extent is not negative
   7 | tensor C(n, -n): f64
     |             ^~
tensor.distal:8:16: error: expected ':' and a type, found 'f64'
   8 | tensor D(n, n) f64
     |                ^~~
tensor.distal:9:14: error: expected ',', ')' or an operator, found ':'
   9 | tensor E(n, n: f64
     |              ^
tensor.distal:10:12: error: expected ',', ')' or an operator, found 'n'
  10 | tensor F(n n): f64
     |            ^
tensor.distal:11:8: error: tensor 'G' has more bytes than fit into a 64-bit number
  11 | tensor G(4000000000, 4000000000): f64
     |        ^
tensor.distal:12:13: error: mode 1 of 'H' has extent 9000000000000000000; an extent is at most 2^62
  12 | tensor H(0, 9000000000000000000): f64
     |             ^~~~~~~~~~~~~~~~~~~
tensor.distal:13:8: error: expected the name of a tensor, but 'place' is a reserved word
  13 | tensor place(3): f64
     |        ^~~~~
tensor.distal:14:46: error: a tensor has at most 12 modes
  14 | tensor I(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1): f64
     |                                              ^
tensor.distal:15:13: error: unknown param 'm' (params: ranks n)
  15 | tensor J(n, m): f64
     |             ^
tensor.distal:16:18: error: expected ',' or the end of the line, found 'f32'
  16 | tensor K(n): f64 f32
     |                  ^~~
tensor.distal:17:9: error: expected extents (...) or ':' and a type, found end of line
  17 | tensor L
     |         ^
tensor.distal:18:1: error: unknown declaration 'tensro'; did you mean 'tensor'?
  18 | tensro N(3): f64
     | ^~~~~~
