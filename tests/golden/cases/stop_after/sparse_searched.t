# Where no order of loops follows the storage of all tensors, the comment of the leaf says which is searched.
# run: explain {file} --stop-after spmd
--- program
param n = 100
tensor A(n, n): f64
tensor B(n, n): f64, csr
tensor C(n, n): f64, csc
A(i, j) = B(i, j) * C(i, j)
--- stdout
# one processor
accumulate A[:, :]
fetch B[:, :]
fetch C[:, :]
# loops: 'B' is sparse; 'C' is searched, as no order of the loops follows all tensors
for i in 0 .. n:
    for j in 0 .. n:
        A(i, j) += B(i, j) * C(i, j)
release C
release B
reduce A
