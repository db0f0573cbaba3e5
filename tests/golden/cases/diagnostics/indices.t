# Indices: their number, what they may be, and that all modes of a variable have one extent.
# run: check {file}
# status: 2
--- program
param n = 8, m = 9
tensor A(n, n): f64
tensor B(n, m): f64
tensor C(n, n): f64
tensor v(n): f64
tensor s: f64
A(i, j) = B(i, k) * C(k, j)
A(i, j) = B(i, j)
A(i) = v(i, j) + s(i) + C
A(i, i) = C(i, i)
A(i, j) = C(i+1, j) + C(i, 0) + C(i, ) + C(i, v(j))
A(i, j) = A(j, i) + s
A(i, j) += 2 * A(i, j)
v(k) = C(i, k, B(i, k)) + C(2 * (i + j), k)
s = B(i, i)
--- stderr
indices.distal:7:23: error: 'k' indexes mode 1 of 'B' (extent 9) and mode 0 of 'C' (extent 8); these extents must be equal
   7 | A(i, j) = B(i, k) * C(k, j)
     |                       ^
indices.distal:8:16: error: 'j' indexes mode 1 of 'A' (extent 8) and mode 1 of 'B' (extent 9); these extents must be equal
   8 | A(i, j) = B(i, j)
     |                ^
indices.distal:9:1: error: 'A' has 2 modes, but 1 index is given here
   9 | A(i) = v(i, j) + s(i) + C
     | ^~~~
indices.distal:9:8: error: 'v' has 1 mode, but 2 indices are given here
   9 | A(i) = v(i, j) + s(i) + C
     |        ^~~~~~~
indices.distal:9:18: error: 's' is a scalar and takes no index
   9 | A(i) = v(i, j) + s(i) + C
     |                  ^~~~
indices.distal:9:25: error: 'C' has 2 modes, but 0 indices are given here
   9 | A(i) = v(i, j) + s(i) + C
     |                         ^
indices.distal:11:38: error: expected an index variable, found ')'
  11 | A(i, j) = C(i+1, j) + C(i, 0) + C(i, ) + C(i, v(j))
     |                                      ^
indices.distal:12:11: error: 'A' is assigned by this statement, which may read only the element of it that it computes, 'A(i, j)'
  12 | A(i, j) = A(j, i) + s
     |           ^~~~~~~
indices.distal: note: to read others, compute into a second tensor, A_new(i, j) = ..., and copy it, A(i, j) = A_new(i, j)
indices.distal:14:8: error: 'C' has 2 modes, but 3 indices are given here
  14 | v(k) = C(i, k, B(i, k)) + C(2 * (i + j), k)
     |        ^~~~~~~~~~~~~~~~
indices.distal:14:16: error: an index is a variable, or a sum of variables times integers, as 2 * i + 1
  14 | v(k) = C(i, k, B(i, k)) + C(2 * (i + j), k)
     |                ^~~~~~~
indices.distal:15:10: error: 'i' indexes mode 0 of 'B' (extent 8) and mode 1 of 'B' (extent 9); these extents must be equal
  15 | s = B(i, i)
     |          ^
