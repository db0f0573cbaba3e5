# Ranges of variables, and what they may not be.
# run: check {file}
# status: 2
--- program
param n = 8
tensor A(n, n): f64
tensor S(n, n): f64, csr
tensor u(n): f64
tensor v(n): f64
v(i) = u(i) for i of 1 : n
v(i) = u(i) for i in 1
v(i) = u(i) for n in 0 : 3
v(i) = u(i) for i in 1 : 2, i in 3 : 4
v(i) = u(i) for j in 1 : 2
v(i) = u(i) for i in 1 : 2 + u
v(i) = u(i) for i in 1 : n + 1
v(i) = u(i - 1) for i in 0 : n
v(i) = A(i, i + k) for i in 0 : 4, k in 0 : n
v(i) = v(i) + S(i, i) for i in 1 : n - 1
v(i) = u(i) for a in 0 : 1, b in 0 : 1, c in 0 : 1, d in 0 : 1, e in 0 : 1, f in 0 : 1, g in 0 : 1, h in 0 : 1, k in 0 : 1, l in 0 : 1, m in 0 : 1, o in 0 : 1, p in 0 : 1
v(i) = u(i) for i in 1 : 3 + 4 5
v(i) = u(i) for
v(i) = u(i + k) for k in 0 : 4611686018427387904
v(i) = u(i) * u(i) for i in 1 : n
schedule v { precompute(u(i) * u(i), {i}, {i}, W) }
--- stderr
index_ranges.distal:6:19: error: expected 'in' after 'i', found 'of'
   6 | v(i) = u(i) for i of 1 : n
     |                   ^~
index_ranges.distal:7:23: error: expected ':' and where the range ends, found end of line
   7 | v(i) = u(i) for i in 1
     |                       ^
index_ranges.distal:8:17: error: 'n' is a param; a range is of an index variable
   8 | v(i) = u(i) for n in 0 : 3
     |                 ^
index_ranges.distal:9:29: error: 'i' has two ranges
   9 | v(i) = u(i) for i in 1 : 2, i in 3 : 4
     |                             ^
index_ranges.distal:10:17: error: 'j' indexes nothing in this statement
  10 | v(i) = u(i) for j in 1 : 2
     |                 ^
index_ranges.distal:11:30: error: 'u' is a tensor, not a param
  11 | v(i) = u(i) for i in 1 : 2 + u
     |                              ^
index_ranges.distal:12:3: error: 'i' runs from 1 to 8 with these ranges, outside of mode 0 of 'v' (extent 8)
  12 | v(i) = u(i) for i in 1 : n + 1
     |   ^
index_ranges.distal:13:10: error: 'i - 1' runs from -1 to 6 with these ranges, outside of mode 0 of 'u' (extent 8)
  13 | v(i) = u(i - 1) for i in 0 : n
     |          ^~~~~
index_ranges.distal:14:13: error: 'i + k' runs from 0 to 10 with these ranges, outside of mode 1 of 'A' (extent 8)
  14 | v(i) = A(i, i + k) for i in 0 : 4, k in 0 : n
     |             ^~~~~
index_ranges.distal:15:27: error: a statement that has sparse tensors, such as 'S', and reads what it writes takes no range such as 'i in 1 : n - 1': write the result to a second tensor
  15 | v(i) = v(i) + S(i, i) for i in 1 : n - 1
     |                           ^
index_ranges.distal:16:161: error: a statement has at most 12 ranges
  16 | ) for a in 0 : 1, b in 0 : 1, c in 0 : 1, d in 0 : 1, e in 0 : 1, f in 0 : 1, g in 0 : 1, h in 0 : 1, k in 0 : 1, l in 0 : 1, m in 0 : 1, o in 0 : 1, p in 0 : 1
     |                                                                                                                                                       ^
index_ranges.distal:17:32: error: expected ',' or the end of the line, found '5'
  17 | v(i) = u(i) for i in 1 : 3 + 4 5
     |                                ^
index_ranges.distal:18:16: error: expected an index variable, found end of line
  18 | v(i) = u(i) for
     |                ^
index_ranges.distal:19:21: error: the ends of this range do not fit into 62 bits
  19 | v(i) = u(i + k) for k in 0 : 4611686018427387904
     |                     ^
