# More than 10^11 operations: in the order of the statement, which the reference evaluator keeps.
# run: run --check {file}
--- program
param n = 9999991, m = 2, k = 1024
tensor y(n): i32
tensor A(n, m): i32
tensor B(m, k): i32
tensor x(k): i32
y(i) = A(i, j) * B(j, l) * x(l)
--- stderr
check y (4096 of 9999991 elements, drawn with seed 1): max relative error 0, tolerance 0: ok
