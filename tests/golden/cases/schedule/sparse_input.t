# run: schedule {file} -n 2 --in B=b.mtx
# status: 1
--- program
tensor y(3): f64
tensor B(3, 3): f64, csr
tensor x(3): f64
y(i) = B(i, j) * x(j)
--- file b.mtx
%%MatrixMarket matrix coordinate real general
3 3 2
1 1 1
4 1 2
--- stderr
distal: error: cannot read 'b.mtx': line 4: coordinate 4 of mode 0 is not from 1 to 3, its extent
