# Indices that are sums of variables times integers, and what they may not be.
# run: check {file}
# status: 2
--- program
param n = 8, zero = 0
tensor A(n, n): f64
tensor S(n, n): f64, csr
tensor u(n): f64
tensor v(n): f64
v(i) = u(i * i)
v(i) = u(i / 2)
v(i) = u(2 * (i + j) - 3 * i + n)
v(i) = u(n + i * place)
v(i) = u(i + j + k + l + m)
v(i) = u(4611686018427387904 * i * 2)
v(i) = u(zero * i)
v(i) = u(i) + A(n, i - n)
v(i) = u(i) + A(-1, i)
v(i + j) = u(i) * u(j)
v(i + 1) = u(i + 2)
v(i) = u(j - k) * u(k - j)
v(i) = u(i + 4611686018427387904)
S(i, i + 1) = u(i)
S(i, j) += S(i, j) * u(j + 1)
v(i) = u(i) * u(i + 1.5)
v(i) = u(i + A(i, i))
v(i) = u(i +)
--- stderr
index_sums.distal:6:10: error: an index is a sum of variables times integers, without products of variables
   6 | v(i) = u(i * i)
     |          ^~~~~
index_sums.distal:7:10: error: an index is a sum of variables times integers, without divisions of variables
   7 | v(i) = u(i / 2)
     |          ^~~~~
index_sums.distal:9:10: error: an index is a variable, or a sum of variables times integers, as 2 * i + 1
   9 | v(i) = u(n + i * place)
     |          ^~~~~~~~~~~~~
index_sums.distal:10:26: error: an index has at most 4 variables
  10 | v(i) = u(i + j + k + l + m)
     |                          ^
index_sums.distal:11:10: error: the factor of 'i' does not fit into 64 bits
  11 | v(i) = u(4611686018427387904 * i * 2)
     |          ^~~~~~~~~~~~~~~~~~~~~~~~~~~
index_sums.distal:12:10: error: 'i' is multiplied by 0 in this index
  12 | v(i) = u(zero * i)
     |          ^~~~~~~~
index_sums.distal:13:17: error: index n, which is 8, lies outside of mode 0 of 'A' (extent 8)
  13 | v(i) = u(i) + A(n, i - n)
     |                 ^
index_sums.distal: note: 'n' is a param, so this index is one coordinate; an index variable has a name of its own
index_sums.distal:14:17: error: index -1 lies outside of mode 0 of 'A' (extent 8)
  14 | v(i) = u(i) + A(-1, i)
     |                 ^~
index_sums.distal:15:3: error: an index of the left side has one variable, so that an iteration writes an element of its own
  15 | v(i + j) = u(i) * u(j)
     |   ^~~~~
index_sums.distal:17:10: error: how far 'j' runs does not follow from the indices: index a mode by 'j' alone, or give a range, as in 'for j in 0 : n'
  17 | v(i) = u(j - k) * u(k - j)
     |          ^
index_sums.distal:18:10: error: the values of this index do not fit into 62 bits
  18 | v(i) = u(i + 4611686018427387904)
     |          ^~~~~~~~~~~~~~~~~~~~~~~
index_sums.distal:19:6: error: 'S' is sparse, and its indices on the left side are variables: write it as a sum over entries of a dense tensor, or move the index to the right side
  19 | S(i, i + 1) = u(i)
     |      ^~~~~
index_sums.distal:20:24: error: a statement that has sparse tensors, such as 'S', and reads what it writes takes no index such as 'j + 1': write the result to a second tensor
  20 | S(i, j) += S(i, j) * u(j + 1)
     |                        ^~~~~
index_sums.distal:21:17: error: an index is a variable, or a sum of variables times integers, as 2 * i + 1
  21 | v(i) = u(i) * u(i + 1.5)
     |                 ^~~~~~~
index_sums.distal:22:10: error: an index is a variable, or a sum of variables times integers, as 2 * i + 1
  22 | v(i) = u(i + A(i, i))
     |          ^~~~~~~~~~~
index_sums.distal:23:13: error: expected an index: a variable, an integer or a param, found ')'
  23 | v(i) = u(i +)
     |             ^
