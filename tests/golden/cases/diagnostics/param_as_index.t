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
param_as_index.distal:6:10: error: 'n' is a param; an index is a variable, which runs over all coordinates of a mode
   6 | p(i) = r(n)
     |          ^
param_as_index.distal:7:7: error: 'ranks' is a param; an index is a variable, which runs over all coordinates of a mode
   7 | s = B(ranks, j) * r(j)
     |       ^~~~~
param_as_index.distal:7:14: error: 'j' is a param; an index is a variable, which runs over all coordinates of a mode
   7 | s = B(ranks, j) * r(j)
     |              ^
param_as_index.distal:7:21: error: 'j' is a param; an index is a variable, which runs over all coordinates of a mode
   7 | s = B(ranks, j) * r(j)
     |                     ^
param_as_index.distal:8:3: error: 'j' is a param; an index is a variable, which runs over all coordinates of a mode
   8 | r(j) = p(j) + B(i, j)
     |   ^
param_as_index.distal:8:10: error: 'j' is a param; an index is a variable, which runs over all coordinates of a mode
   8 | r(j) = p(j) + B(i, j)
     |          ^
param_as_index.distal:8:20: error: 'j' is a param; an index is a variable, which runs over all coordinates of a mode
   8 | r(j) = p(j) + B(i, j)
     |                    ^
param_as_index.distal:9:20: error: 'n' is a param; an index is a variable, which runs over all coordinates of a mode
   9 | p(i) = r(i) * B(i, n)
     |                    ^
param_as_index.distal:10:30: error: 'n' is a param; an index is a variable, which runs over all coordinates of a mode
  10 | schedule p { precompute(B(i, n), {i}, {i}, W) }
     |                              ^
