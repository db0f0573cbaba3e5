# What is declared is checked with the values that are given.
# run: check -p n=-4000000000 -p g=0 {file}
# status: 2
--- program
param n = 8, g = 2, square = n * n
machine M = grid(g)
tensor A(n - 1): f64
tensor B(square): f64
place B(x) -> M(x)
--- stderr
override_checked.distal:1:32: error: -4000000000 * -4000000000 does not fit into 64 bits
   1 | param n = 8, g = 2, square = n * n
     |                                ^
override_checked.distal:2:18: error: dimension 0 of machine 'M' has size 0; a size is at least 1
   2 | machine M = grid(g)
     |                  ^
override_checked.distal:3:10: error: mode 0 of 'A' has extent -4000000001; an extent is not negative
   3 | tensor A(n - 1): f64
     |          ^~~~~
