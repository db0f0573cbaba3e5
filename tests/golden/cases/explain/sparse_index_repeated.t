# Threads take parts of a loop that follows an index, k + 7, whose coordinates are stored repeatedly.
# run: explain {file}
--- program
param n2 = 9
tensor A(31, 11): i32
tensor B(31, 11): i32, {dense, compressed}, order(1, 0)
tensor C(31, n2): i32, {compressed, dense}
tensor D(n2, 11): i32, {compressed(nonunique), singleton}
A(i, j) = B(i, j) * C(i, k) * D(k + 7, j)
--- stdout
# A(i, j) = B(i, j) * C(i, k) * D(k + 7, j)

forall(i) forall(j) forall(k) A(i, j) += B(i, j) * C(i, k) * D(k + 7, j)

# one process
# one processor
accumulate A[:, :]
fetch B[:, :]
fetch C[:, :]
fetch D[:, :]
# loops: 'B' is sparse
for k in 0 .. n2:  # threads, as many as have copies in 64 MiB
    k + 7 = k + 7
    if k + 7 < n2:
        for j in 0 .. 11:
            for i in 0 .. 31:
                A(i, j) += B(i, j) * C(i, k) * D(k + 7, j)
release D
release C
release B
reduce A
