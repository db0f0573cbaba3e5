# A sum that is broadcast along another variable: of another extent, of a factor in several places, or written out, it is meant.
# run: check {file}
--- program
param n = 10, m = 5
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, m): f64
tensor x(n): f64
tensor y(n): f64
tensor s: f64
A(i, j) = B(i, k)
A(i, j) += 2 * x(i) - B(k, i)
y(i) = s * x(j)
A(i, j) = C(i, k)
A(i, j) = B(i, k) * x(k)
A(i, j) = sum({k}, B(i, k))
A(i, j) = B(i, k) + B(k, j)
A(i, j) = x(i)
--- stderr
unmatched_index.distal:8:16: warning: the sum over 'k' is broadcast along 'j', which has the same extent and stands on the left side only [-Wunmatched-index]
   8 | A(i, j) = B(i, k)
     |                ^
unmatched_index.distal:8:6: note: if this is meant, write the sum as 'sum({k}, ...)'
   8 | A(i, j) = B(i, k)
     |      ^
unmatched_index.distal:9:25: warning: the sum over 'k' is broadcast along 'j', which has the same extent and stands on the left side only [-Wunmatched-index]
   9 | A(i, j) += 2 * x(i) - B(k, i)
     |                         ^
unmatched_index.distal:9:6: note: if this is meant, write the sum as 'sum({k}, ...)'
   9 | A(i, j) += 2 * x(i) - B(k, i)
     |      ^
unmatched_index.distal:10:14: warning: the sum over 'j' is broadcast along 'i', which has the same extent and stands on the left side only [-Wunmatched-index]
  10 | y(i) = s * x(j)
     |              ^
unmatched_index.distal:10:3: note: if this is meant, write the sum as 'sum({j}, ...)'
  10 | y(i) = s * x(j)
     |   ^
