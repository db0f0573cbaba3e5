# Statements with sparse tensors are compiled, and not executed yet.
# run: plan {file}
# status: 2
--- program
tensor B(8, 8): f64, csr
tensor x(8): f64
tensor y(8): f64
y(i) = B(i, j) * x(j)
--- stderr
sparse_execution.distal:4:8: error: tensor 'B' is sparse, and executing statements with sparse tensors is not supported yet
   4 | y(i) = B(i, j) * x(j)
     |        ^~~~~~~
