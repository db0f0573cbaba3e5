# Formats by name, lists of levels and maps from modes to levels, in one normal form.
# run: explain {file} --stop-after program
--- program
param n = 4, big = 4611686018427387904
tensor A1(n, n): f64, csr
tensor A2(n, n): f64, csc
tensor A3(n, n): f64, dcsr
tensor A4(n, n): f64, csr, order(1, 0)
tensor B1(n): f64, coo
tensor B2(n, n): f64, coo
tensor B3(n, n, 5): f64, coo, order(2, 0, 1)
tensor C1(n): f64, csf
tensor C12(n, n, n, n, n, n, n, n, n, n, n, n): f64, csf
tensor D(n, n, 5): f64, {dense, compressed, compressed}
tensor E1(n, n): f64, (i, j) -> (i : dense, j : compressed)
tensor E2(n, n): f64, (d0, d1) -> (d1 : compressed(nonunique), d0 : singleton)
tensor E3(n, n, n): c64, (i, j, k) -> (
  k : dense,
  i : compressed,
  j : dense
)
tensor F1(big, big, big): f64, csf
tensor F2(n, n, 3, 3): f32, {compressed(nonunique), singleton, dense, dense}
tensor F3(n, n, n): f64, {dense, compressed(nonunique), singleton}
tensor G1(n, n): f64, (i, j) -> (i : dense, j : dense)
tensor G2(n, n): f64, (i, j) -> (j : dense, i : dense)
tensor G3: f64, {}
--- stdout
param n = 4, big = 4611686018427387904
tensor A1(n, n): f64, {dense, compressed}
tensor A2(n, n): f64, {dense, compressed}, order(1, 0)
tensor A3(n, n): f64, {compressed, compressed}
tensor A4(n, n): f64, {dense, compressed}, order(1, 0)
tensor B1(n): f64, {compressed}
tensor B2(n, n): f64, {compressed(nonunique), singleton}
tensor B3(n, n, 5): f64, {compressed(nonunique), singleton(nonunique), singleton}, order(2, 0, 1)
tensor C1(n): f64, {compressed}
tensor C12(n, n, n, n, n, n, n, n, n, n, n, n): f64, {compressed, compressed, compressed, compressed, compressed, compressed, compressed, compressed, compressed, compressed, compressed, compressed}
tensor D(n, n, 5): f64, {dense, compressed, compressed}
tensor E1(n, n): f64, {dense, compressed}
tensor E2(n, n): f64, {compressed(nonunique), singleton}, order(1, 0)
tensor E3(n, n, n): c64, {dense, compressed, dense}, order(2, 0, 1)
tensor F1(big, big, big): f64, {compressed, compressed, compressed}
tensor F2(n, n, 3, 3): f32, {compressed(nonunique), singleton, dense, dense}
tensor F3(n, n, n): f64, {dense, compressed(nonunique), singleton}
tensor G1(n, n): f64
tensor G2(n, n): f64, order(1, 0)
tensor G3: f64
--- stderr
distal: note: the program has no statement
