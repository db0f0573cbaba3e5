# run: help csr
--- program
tensor a: f64
--- stdout
formats: named ways to store sparse tensors

A format is a name for a list of levels (help levels):
  csr csc dcsr coo csf
csr stores a matrix by rows, csc by columns, dcsr as csr without empty rows, coo as a list of entries,
csf as a tree of coordinates. In place of a name, write the list, or a map from modes to levels.

example:
  param n = 100
  tensor A(n, n): f64, csr
  tensor B(n, n): f64, {dense, compressed}
  tensor C(n, n): f64, (i, j) -> (i : dense, j : compressed)
