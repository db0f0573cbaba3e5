# A statement that converts: the copy of the operand is the result.
# run: explain {file}
--- program
param n = 8
tensor B(n, n): f64, csr
tensor A(n, n): f64, csc
A(i, j) = B(i, j)
--- stdout
# A(i, j) = B(i, j)

forall(i) forall(j) A(i, j) = B(i, j)

# one process
# one processor
accumulate A[:, :]
fetch B[:, :]
# loops: 'A' is sparse; 'B(i, j)' is converted to {dense, compressed}, order(1, 0), and the copy is the result, without a kernel where that is at home
for j in 0 .. n:
    for i in 0 .. n:
        A(i, j) = B(i, j)
release B
reduce A
