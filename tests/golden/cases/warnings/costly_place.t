# A schedule without distribute: the default stays.
# run: check {file}
--- program
param n = 1000, p = 4
machine M = grid(p)
tensor y(n): f64
tensor A(n, n): f64
tensor x(n): f64
place y(i) -> M(i)
place A(i, j) -> M(j)
place x(j) -> M(j)
y(i) = A(i, j) * x(j)
schedule y {
  reorder({j, i})
}
--- stderr
costly_place.distal:9:1: warning: by default this is computed where 'y' lies, and 6024000 bytes move in each execution; where 'A' lies, 24000 would [-Wcostly-place]
   9 | y(i) = A(i, j) * x(j)
     | ^~~~~~~~~~~~~~~~~~~~~
costly_place.distal:9:8: note: in its schedule, write 'distribute({j}, {jo}, {ji}, A)'
   9 | y(i) = A(i, j) * x(j)
     |        ^~~~~~~
