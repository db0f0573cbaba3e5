# run: run --in B=rmat:1:3:10 {file}
# status: 1
--- program
tensor y(7): f64
tensor B(7, 8): f64, csr
y(i) = B(i, j)
--- stderr
distal: error: 'rmat:1:3:10' cannot make B: it needs a matrix with at least 8 rows and columns
