# run: check {file}
# status: 2
--- program
param n = 4294967296
tensor a: f64
tensor C(n): f64
tensor D(n): f64
a = C(i) * D(j)
schedule a {
  collapse(i, j, f)
}
--- stderr
extent_overflow.distal:7:18: error: the extent of 'f' is negative or does not fit into 64 bits
   7 |   collapse(i, j, f)
     |                  ^
