# More ranks than a plan can be made for.
# run: plan {file} -p g=100000000
# status: 2
--- program
param n = 8, g = 2

machine M = grid(g)

tensor A(n): f64
tensor B(n): f64

place A(x) -> M(x)

A(i) = B(i)
--- stderr
too_many_ranks.distal: error: 100000000 ranks are more than a plan can be made for (4194304)
