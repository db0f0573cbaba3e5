# Elements are drawn, the same ones for any number of ranks.
# run: run --check=sample {file}
--- program
param n = 101
machine M = grid(2)
tensor A(n, n): i64
tensor B(n, n): i64
tensor s: i64
place A(x, y) -> M(x)
place B(x, y) -> M(y)
A(i, j) = B(i, j) * 2
s = A(i, j)
--- stdout
s = 10236924
--- stderr
check A (4096 of 10201 elements, drawn with seed 1): max relative error 0, tolerance 0: ok
check s: max relative error 0, tolerance 0: ok
