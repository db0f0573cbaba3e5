# Operands whose storage order does not fit the loops are converted where a loop would go through its whole extent for them.
# run: explain {file} --stop-after spmd
--- program
param n = 100
tensor A(n, n): f64
tensor B(n, n): f64, csr
tensor C(n, n): f64, csc
tensor D(n, n): f64, dcsr
A(i, j) = B(i, j) + C(i, j)
A(i, j) = B(i, j) + B(j, i)
A(i, j) = D(i, j) + D(j, i)
A(i, j) = D(i, j) * D(j, i)
--- stdout
# one processor
accumulate A[:, :]
fetch B[:, :]
fetch C[:, :]
# loops: 'B' is sparse; 'C(i, j)' is converted to {dense, compressed}, as its storage order does not fit the loops i, j
for i in 0 .. n:
    for j in 0 .. n:
        A(i, j) += B(i, j) + C(i, j)
release C
release B
reduce A

# one processor
accumulate A[:, :]
fetch B[:, :]
fetch B[:, :]
# loops: 'B' is sparse; 'B(j, i)' is converted to {dense, compressed}, order(1, 0), as its storage order does not fit the loops i, j
for i in 0 .. n:
    for j in 0 .. n:
        A(i, j) += B(i, j) + B(j, i)
release B
release B
reduce A

# one processor
accumulate A[:, :]
fetch D[:, :]
fetch D[:, :]
# loops: 'D' is sparse; 'D(j, i)' is converted to {compressed, compressed}, order(1, 0), as its storage order does not fit the loops i, j
for i in 0 .. n:
    for j in 0 .. n:
        A(i, j) += D(i, j) + D(j, i)
release D
release D
reduce A

# one processor
accumulate A[:, :]
fetch D[:, :]
fetch D[:, :]
# loops: 'D' is sparse; 'D' is searched, as no order of the loops follows all tensors
for i in 0 .. n:
    for j in 0 .. n:
        A(i, j) += D(i, j) * D(j, i)
release D
release D
reduce A
