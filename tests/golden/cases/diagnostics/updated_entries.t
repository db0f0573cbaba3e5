# Updates of sparse tensors, which have no ranges, and cannot give a value to what is not stored.
# run: check {file}
# status: 2
--- program
param n = 4
tensor S(n, n): f64, csr
tensor T(n, n): f64, csr
tensor A(n, n): f64
tensor s(n): f64, {compressed}
S(i, j) = S(i, j) * T(i, j) for i in 1 : n
S(i, j) *= T(i, j) for i in 1 : n
S(i, j) max= A(i, j)
S(i, j) max= 2
s(i) min= S(i, j)
--- stderr
updated_entries.distal:6:33: error: a statement that has sparse tensors, such as 'S', and reads what it writes takes no range such as 'i in 1 : n': write the result to a second tensor
   6 | S(i, j) = S(i, j) * T(i, j) for i in 1 : n
     |                                 ^
updated_entries.distal:7:24: error: a statement that has sparse tensors, such as 'S', and reads what it writes takes no range such as 'i in 1 : n': write the result to a second tensor
   7 | S(i, j) *= T(i, j) for i in 1 : n
     |                        ^
updated_entries.distal:8:14: error: 'A(i, j)' has a value everywhere, so the result is not zero there and cannot be stored in 'S', which is sparse; store the result in a dense tensor
   8 | S(i, j) max= A(i, j)
     |              ^~~~~~~
updated_entries.distal:9:14: error: 'max(S(i, j), 2)' is not zero where its arguments are, so the result is not zero there and cannot be stored in 'S', which is sparse; store the result in a dense tensor
   9 | S(i, j) max= 2
     |              ^
updated_entries.distal:10:11: error: 'min({j}, S(i, j))' has a value everywhere, so the result is not zero there and cannot be stored in 's', which is sparse; store the result in a dense tensor
  10 | s(i) min= S(i, j)
     |           ^~~~~~~
