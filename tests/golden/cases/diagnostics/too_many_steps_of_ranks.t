# More steps of communication than anyone can wait for, on all ranks together.
# run: plan {file} -p n=10000000 -p g=16
# status: 2
--- program
param n = 8, g = 2

machine M = grid(g)

tensor A(n): f64
tensor B(n): f64

place A(x) -> M(x)
place B(x) -> M(x)

A(i) = B(j)

schedule A {
  distribute({i}, {io}, {ii}, M)
  reorder({j, ii})
  communicate(B, j)
}
--- stderr
too_many_steps_of_ranks.distal:11:8: error: the loops around the communication of 'B' have more than 100000000 turns on all ranks together
  11 | A(i) = B(j)
     |        ^~~~
