# run: schedule {file} -n 3
# status: 2
--- program
tensor y(50): f64
tensor B(50, 50): f64, csr
tensor x(50): f64
y(i) = B(i, j) * x(j)
--- stderr
sparse.distal:4:8: error: no schedule is looked for where a tensor is sparse, as 'B' is: what moves depends on its entries
   4 | y(i) = B(i, j) * x(j)
     |        ^~~~~~~
sparse.distal:4:8: note: place it by rows, as 'place B(...) -> M(...)', and leave the statement without a schedule: it is computed where B lies
   4 | y(i) = B(i, j) * x(j)
     |        ^~~~~~~
