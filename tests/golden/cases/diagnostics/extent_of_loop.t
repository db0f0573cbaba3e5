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
extent_of_loop.distal:6:3: error: cannot split: expected a number that is at least 1, but s is 0
   6 |   split(i, io, ii, s)
     |   ^~~~~~~~~~~~~~~~~~~
