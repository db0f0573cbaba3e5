# A range may be empty; indices that leave a mode are no mistake as long as some value is left.
# run: check {file}
--- program
param n = 10, first = 5
tensor u(n): f64
tensor v(n): f64
tensor w(n): f64
v(i) = u(i + 20)
w(i) = u(i + 5) * v(i - 5)
v(i) = w(i + 9)
v(i) = w(i + 1) for i in first : 5
--- stderr
outside.distal:5:3: warning: for none of the 10 values of 'i' are all indices inside of their modes, so nothing is computed [-Woutside]
   5 | v(i) = u(i + 20)
     |   ^
outside.distal:6:3: warning: for none of the 10 values of 'i' are all indices inside of their modes, so nothing is computed [-Woutside]
   6 | w(i) = u(i + 5) * v(i - 5)
     |   ^
