# run: run --in B=stencil:7 {file}
# status: 1
--- program
tensor y(9): f64
tensor B(9, 9): f64, csr
y(i) = B(i, j)
--- stderr
distal: error: 'stencil:7' cannot make B: it needs a square matrix whose number of rows is a cube, as 1000 = 10 * 10 * 10
