# More steps of communication than anyone can wait for, on all ranks together.
# run: plan {file} -p n=6000000 -p g=200
# status: 2
--- program
param n = 8, g = 2

machine M = grid(g)

tensor A(g): f64
tensor B(g, n): f64

place A(x) -> M(x)
place B(x, y) -> M(x)

A(i) = B(i, j)

schedule A {
  distribute({i}, {io}, {ii}, M)
  reorder({j, ii})
  communicate(B, j)
}
--- stderr
too_many_steps_of_ranks.distal:11:8: error: the communication of 'B' has 6000000 steps on 200 ranks that differ in it, and a plan has at most 1000000000 on all ranks; communicate it at a loop further outside
  11 | A(i) = B(i, j)
     |        ^~~~~~~
