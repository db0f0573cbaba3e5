# run: run --in B=b.tns {file}
# status: 1
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
A(i, j) = 2 * B(i, j)
--- file b.tns
# a comment
1 1 1.5
1 2 0,5
--- stderr
distal: error: cannot read 'b.tns': line 3: '0,5' is not a number
