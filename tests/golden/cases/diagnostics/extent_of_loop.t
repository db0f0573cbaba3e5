# run: check {file}
# status: 2
--- program
param s = 0
tensor C(4): f64
tensor D(4): f64
C(i) = D(i)
schedule C {
  split(i, io, ii, s)
}
--- stderr
extent_of_loop.distal:6:12: error: the extent of 'io' is negative, overflows 64 bits, or divides by zero
   6 |   split(i, io, ii, s)
     |            ^~
