# What only the whole schedule shows: a machine for each statement, and not too many dimensions.
# run: check {file}
# status: 2
--- program
param n = 4
machine M = grid(2)
machine N = grid(2)
tensor A(n, n, n, n, n, n, n): f64
tensor B(n, n, n, n, n, n, n): f64
tensor C(n, n): f64
tensor D(n, n): f64
C(i, j) = D(i, j)
schedule C {
  distribute({i}, {io}, {ii}, M)
  distribute({j}, {jo}, {ji}, N)
}
A(a, b, c, d, e, f, g) = B(a, b, c, d, e, f, g)
schedule A {
  split(a, ao, ai, 2)
  split(b, bo, bi, 2)
  split(c, co, ci, 2)
  split(d, do, di, 2)
  split(e, eo, ei, 2)
  split(f, fo, fi, 2)
  distribute({ao, ai, bo, bi, co, ci, do, di, eo, ei, fo, fi, g})
}
--- stderr
lowered.distal:21:3: error: cannot distribute onto more than 12 dimensions
  21 |   distribute({ao, ai, bo, bi, co, ci, do, di, eo, ei, fo, fi, g})
     |   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
