# run: run --in B=b.mtx {file}
# status: 1
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
A(i, j) = 2 * B(i, j)
--- file b.mtx
%%MatrixMarket matrix coordinate real general
2 3 4
1 1 0.5
2 1 2
--- stderr
distal: error: cannot read 'b.mtx': its header says 4 entries, and it has 2
