# A param has one value; it is no variable that runs over a mode.
# run: check {file}
# status: 2
--- program
param n = 8, j = 2
tensor p(n): f64
tensor r(n): f64
tensor B(n, n): f64
tensor s: f64
p(i) = r(n)
s = B(ranks, j) * r(j)
r(j) = p(j) + B(i, j)
p(i) = r(i) * B(i, n)
schedule p { precompute(B(i, n), {i}, {i}, W) }
--- stderr
param_as_index.distal:6:10: error: index n, which is 8, lies outside of mode 0 of 'r' (extent 8)
   6 | p(i) = r(n)
     |          ^
param_as_index.distal: note: 'n' is a param, so this index is one coordinate; an index variable has a name of its own
param_as_index.distal:9:20: error: index n, which is 8, lies outside of mode 1 of 'B' (extent 8)
   9 | p(i) = r(i) * B(i, n)
     |                    ^
param_as_index.distal: note: 'n' is a param, so this index is one coordinate; an index variable has a name of its own
param_as_index.distal:10:30: error: the index 'n' is not a variable, so this part cannot be computed ahead
  10 | schedule p { precompute(B(i, n), {i}, {i}, W) }
     |                              ^
