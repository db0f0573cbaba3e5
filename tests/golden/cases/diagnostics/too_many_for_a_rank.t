# More processors than one rank can stand for.
# run: plan {file} --ranks 2 -p g=100000000
# status: 2
--- program
param n = 8, g = 2

machine M = grid(g)

tensor A(n): f64
tensor B(n): f64

place A(x) -> M(x)

A(i) = B(i)
--- stderr
too_many_for_a_rank.distal:3:9: error: machine 'M' has 100000000 processors, which are too many for 2 ranks
   3 | machine M = grid(g)
     |         ^
