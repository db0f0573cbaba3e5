# run: plan {file}
# status: 2
--- program
# Whole blocks of 3 reach beyond the largest number that has 64 bits.
tensor A(6): f64
tensor B(6): f64
A(i) = B(i)
schedule A {
  split(i, io, ii, 9223372036854775807)
  split(ii, ko, ki, 3)
  reorder({ko, io})
}
--- stderr
blocks_beyond_64_bits.distal:7:3: error: the blocks of 'ii' reach beyond 64 bits
   7 |   split(ii, ko, ki, 3)
     |   ^~~~~~~~~~~~~~~~~~~~
