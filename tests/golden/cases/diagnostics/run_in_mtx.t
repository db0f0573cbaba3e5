# run: run --in B=b.mtx {file}
# status: 1
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
A(i, j) = 2 * B(i, j)
--- file b.mtx
%%MatrixMarket matrix coordinate real general
% rows, columns, entries
2 3 2
1 1 0.5
3 1 2
--- stderr
distal: error: cannot read 'b.mtx': line 5: coordinate 3 of mode 0 is not from 1 to 2, its extent
