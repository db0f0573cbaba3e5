# An extent where a number of blocks was meant: refused at once, not planned for years.
# run: check {file}
# status: 2
--- program
param n = 8, blocks = 9223372036854775807

tensor A(n): f64
tensor B(n): f64

A(i) = B(i)

schedule A {
  divide(i, io, ii, blocks)
  communicate(B, io)
}
--- stderr
too_many_blocks.distal:6:8: error: the loops around the communication of 'B' have more than 10000000 iterations, which is too many for a plan; communicate it at a loop further outside
   6 | A(i) = B(i)
     |        ^~~~
