# Statements with sparse results are compiled, and not executed yet.
# run: plan {file}
# status: 2
--- program
tensor B(8, 8): f64, csr
tensor A(8, 8): f64, csr
A(i, j) = B(i, j) * 2
--- stderr
sparse_results.distal:3:1: error: tensor 'A' is sparse, and executing statements with sparse results is not supported yet
   3 | A(i, j) = B(i, j) * 2
     | ^~~~~~~
