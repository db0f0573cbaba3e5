# Of the loops of i + j, that over entries is the one that would visit the most otherwise.
# run: explain {file}
--- program
param n = 1000000000
tensor A(n): f64, {compressed}
tensor w(20): f64
tensor C(n + 19): f64, {compressed}
A(i) = w(j) * C(i + j)
--- stdout
# A(i) = w(j) * C(i + j)

forall(i) forall(j) A(i) += w(j) * C(i + j)

# one process
# one processor
accumulate A[:]
fetch w[:]
fetch C[:]
# entries of 'A' are sorted once they have been found
# loops: 'A' is sparse; 'i' is inside of 'j', as entries of 'C' then give its values
for j in 0 .. 20:
    for i in 0 .. n:
        i + j = i + j
        if i + j < n + 19:
            A(i) += w(j) * C(i + j)
release C
release w
reduce A
