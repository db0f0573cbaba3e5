# What precompute says of the format of a workspace.
# run: explain {file}
# status: 2
--- program
tensor A(8, 8): f64
tensor B(8, 8): f64, csr
tensor C(8, 8): f64
tensor D(8, 8): f64
A(i, l) = B(i, j) * C(j, k) * D(k, l)
schedule A { precompute(B(i, j) * C(j, k), {i, k}, {i, k}, W, {dense}) }
A(i, l) = B(i, j) * C(j, k) * D(k, l)
schedule A { precompute(B(i, j) * C(j, k), {i, k}, {i, k}, W, {dense, compresed}) }
A(i, l) = B(i, j) * C(j, k) * D(k, l)
schedule A { precompute(B(i, j) * C(j, k), {i, k}, {i, k}, W, {singleton, compressed}) }
A(i, l) = B(i, j) * C(j, k) * D(k, l)
schedule A { precompute(B(i, j) * C(j, k), {i, k}, {i, k}, W, dens) }
A(i, l) = B(i, j) * C(j, k) * D(k, l)
schedule A { precompute(B(i, j), {i}, {i}, W, csr) }
A(i, l) = B(i, j) * C(j, k) * D(k, l)
schedule A { precompute(B(i, j) * C(j, k), {k}, {k}, W, csf) }
A(i, l) = B(i, j) * C(j, k) * D(k, l)
schedule A { precompute(C(j, k) * D(k, l), {j, l}, {j, l}, W, csr) }
A(i, l) = B(i, j) * C(j, k) * D(k, l)
schedule A { precompute(B(i, j), {}, {}, W, csr) }
--- stderr
precompute_format.distal:6:63: error: cannot precompute: 1 level for 2 variables of the workspace
   6 | schedule A { precompute(B(i, j) * C(j, k), {i, k}, {i, k}, W, {dense}) }
     |                                                               ^~~~~~~
precompute_format.distal:8:71: error: cannot precompute: unknown storage level 'compresed'; did you mean 'compressed'?
   8 | schedule A { precompute(B(i, j) * C(j, k), {i, k}, {i, k}, W, {dense, compresed}) }
     |                                                                       ^~~~~~~~~
precompute_format.distal:10:64: error: cannot precompute: 'singleton' stores one coordinate for each position of the level above, and there is none
  10 | schedule A { precompute(B(i, j) * C(j, k), {i, k}, {i, k}, W, {singleton, compressed}) }
     |                                                                ^~~~~~~~~
precompute_format.distal:12:63: error: cannot precompute: unknown format 'dens' (formats: csr csc dcsr coo csf)
  12 | schedule A { precompute(B(i, j) * C(j, k), {i, k}, {i, k}, W, dens) }
     |                                                               ^~~~
precompute_format.distal:14:47: error: cannot precompute: 'csr' does not store a tensor of 1 mode: write a list of 1 level
  14 | schedule A { precompute(B(i, j), {i}, {i}, W, csr) }
     |                                               ^~~
precompute_format.distal:16:57: error: cannot precompute: 'W' cannot be summed over 'i' ahead, so it is a row, which stores all of its elements: leave the format out, or add 'i' to both lists
  16 | schedule A { precompute(B(i, j) * C(j, k), {k}, {k}, W, csf) }
     |                                                         ^~~
precompute_format.distal:18:63: error: cannot precompute: 'C(j, k) * D(k, l)' has a value everywhere, so that a workspace for it stores every element: leave the format out
  18 | schedule A { precompute(C(j, k) * D(k, l), {j, l}, {j, l}, W, csr) }
     |                                                               ^~~
precompute_format.distal:20:45: error: cannot precompute: a scalar has no format: leave 'csr' out
  20 | schedule A { precompute(B(i, j), {}, {}, W, csr) }
     |                                             ^~~
