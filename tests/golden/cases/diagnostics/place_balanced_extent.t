# Blocks of another tensor fit modes of the same extent.
# run: check {file}
# status: 2
--- program
machine M = grid(2)
tensor B(8, 8): f64, csr
tensor a(8): f64
tensor c(9): f64
place B(x, y) -> M(weighted(x))
place c(x) -> M(weighted(x, B))
a(i) = B(i, j) * c(k)
--- stderr
place_balanced_extent.distal:6:17: error: the mode has 9 coordinates, but that of 'B', whose blocks it is to have, 8
   6 | place c(x) -> M(weighted(x, B))
     |                 ^~~~~~~~~~~~~~
