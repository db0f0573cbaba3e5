# Names in statements. What follows from a declaration that failed is not reported.
# run: check {file}
# status: 2
--- program
param n = 8
machine M = grid(2)
tensor Alpha(n, n): f64
tensor Beta(n, n): f64
tensor broken(n, n): f65
tensor v(n): f64
Alpha(i, j) = Betta(i, k) * X(k, j) + Y
Alpha(i, j) = broken(i, k) * Beta(k, j) + broken(j)
broken(i) = v(i)
v(i) = n * Beta(i, j)
v(i) = Beta(i, j) * j
v(i) = M(i)
M(i) = v(i)
v(i) = Beta(i, place)
v(i) = late(i)
v(i) = sqrt(Beta(i, j)) + exp(late)
tensor late(n): f64
schedule broken { split(i, io, ii, 2) }
--- stderr
names.distal:5:22: error: unknown type 'f65'; did you mean 'f64'?
   5 | tensor broken(n, n): f65
     |                      ^~~
names.distal:7:15: error: unknown tensor 'Betta'; did you mean 'Beta'?
   7 | Alpha(i, j) = Betta(i, k) * X(k, j) + Y
     |               ^~~~~
names.distal:7:29: error: unknown tensor 'X' (tensors: Alpha Beta broken v)
   7 | Alpha(i, j) = Betta(i, k) * X(k, j) + Y
     |                             ^
names.distal:7:39: error: unknown tensor 'Y' (tensors: Alpha Beta broken v)
   7 | Alpha(i, j) = Betta(i, k) * X(k, j) + Y
     |                                       ^
names.distal:11:21: error: 'j' is an index variable; it can index a tensor but has no value of its own
  11 | v(i) = Beta(i, j) * j
     |                     ^
names.distal:12:8: error: 'M' is a machine, not a tensor
  12 | v(i) = M(i)
     |        ^
names.distal:13:1: error: 'M' is a machine, not a tensor
  13 | M(i) = v(i)
     | ^
names.distal:14:16: error: expected an index variable, but 'place' is a reserved word
  14 | v(i) = Beta(i, place)
     |                ^~~~~
names.distal:15:8: error: tensor 'late' is declared later, on line 17; a declaration comes before its use
  15 | v(i) = late(i)
     |        ^~~~
names.distal:16:31: error: tensor 'late' is declared later, on line 17; a declaration comes before its use
  16 | v(i) = sqrt(Beta(i, j)) + exp(late)
     |                               ^~~~
