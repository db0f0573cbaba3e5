# Workspaces of products with sparse factors are sparse, as they do not have a value everywhere.
# run: explain {file}
--- program
param n = 10000, r = 32
machine M = grid(4)
tensor A(n, n): f64, csr
tensor B(n, n): f64, csr
tensor C(n, n): f64, csr
tensor D(n, n): f64, csr
tensor E(n, r): f64
tensor F(n, n): f64, csc
tensor G(r, n, n): f64, csf
tensor K(n, n): f64, csc
tensor H(n, n): f64
tensor P(n, n): f64, csr
tensor Q(n, n): f64, csr
place P(x, y) -> M(x)
place Q(x, y) -> M(x)
A(i, l) = B(i, j) * C(j, k) * D(k, l)
# Stored by columns.
K(i, m) = F(i, j) * F(j, k) * F(k, l) * F(l, m)
# Rows without entries have no value, so that the first level is a list.
H(i, l) = B(i, j) * E(j, k) * G(k, l, m)
# Each processor computes its rows of both.
P(i, l) = Q(i, j) * Q(j, k) * Q(k, l)
--- stdout
# A(i, l) = B(i, j) * C(j, k) * D(k, l)

forall(i) forall(l) forall(j) forall(k) A(i, l) += B(i, j) * C(j, k) * D(k, l)

# fewer steps with precompute(C(j, k) * D(k, l), {j, l}, {j, l}, W, {dense, compressed})
forall(i) forall(l) forall(j) A(i, l) += B(i, j) * W(j, l) where
forall(j) forall(l) forall(k) W(j, l) += C(j, k) * D(k, l)
    # W is a whole tensor: variables that do not index it are summed ahead

# one process
# one processor
accumulate W[:, :]
fetch C[:, :]
fetch D[:, :]
# entries of 'W' are found row by row, and sorted within a row; values of a row are added to an array of the thread, then copied
# loops: 'W' is sparse
for j in 0 .. n:
    for k in 0 .. n:
        for l in 0 .. n:
            W(j, l) += C(j, k) * D(k, l)
release D
release C
reduce W
accumulate A[:, :]
fetch B[:, :]
fetch W[:, :]
# entries of 'A' are found row by row, and sorted within a row; values of a row are added to an array of the thread, then copied
# loops: 'A' is sparse
for i in 0 .. n:
    for j in 0 .. n:
        for l in 0 .. n:
            A(i, l) += B(i, j) * W(j, l)
release W
release B
reduce A

# K(i, m) = F(i, j) * F(j, k) * F(k, l) * F(l, m)

forall(i) forall(m) forall(j) forall(k) forall(l) K(i, m) += F(i, j) * F(j, k) * F(k, l) * F(l, m)

# fewer steps with precompute(F(i, j) * F(j, k), {k, i}, {k, i}, W2, {dense, compressed})
forall(i) forall(m) forall(k) forall(l) K(i, m) += W2(k, i) * F(k, l) * F(l, m) where
forall(k) forall(i) forall(j) W2(k, i) += F(i, j) * F(j, k)
    # W2 is a whole tensor: variables that do not index it are summed ahead

# fewer steps with precompute(F(k, l) * F(l, m), {m, k}, {m, k}, W3, {dense, compressed})
forall(i) forall(m) forall(k) K(i, m) += W2(k, i) * W3(m, k) where
forall(m) forall(k) forall(l) W3(m, k) += F(k, l) * F(l, m) where
forall(k) forall(i) forall(j) W2(k, i) += F(i, j) * F(j, k)
    # W3 is a whole tensor: variables that do not index it are summed ahead

# one process
# one processor
accumulate W2[:, :]
fetch F[:, :]
fetch F[:, :]
# entries of 'W2' are found row by row, and sorted within a row; values of a row are added to an array of the thread, then copied
# loops: 'W2' is sparse
for k in 0 .. n:
    for j in 0 .. n:
        for i in 0 .. n:
            W2(k, i) += F(i, j) * F(j, k)
release F
release F
reduce W2
accumulate W3[:, :]
fetch F[:, :]
fetch F[:, :]
# entries of 'W3' are found row by row, and sorted within a row; values of a row are added to an array of the thread, then copied
# loops: 'W3' is sparse
for m in 0 .. n:
    for l in 0 .. n:
        for k in 0 .. n:
            W3(m, k) += F(k, l) * F(l, m)
release F
release F
reduce W3
accumulate K[:, :]
fetch W2[:, :]
fetch W3[:, :]
# entries of 'K' are found row by row, and sorted within a row; values of a row are added to an array of the thread, then copied
# loops: 'K' is sparse
for m in 0 .. n:
    for k in 0 .. n:
        for i in 0 .. n:
            K(i, m) += W2(k, i) * W3(m, k)
release W3
release W2
reduce K

# H(i, l) = B(i, j) * E(j, k) * G(k, l, m)

forall(i) forall(l) forall(j) forall(k) forall(m) H(i, l) += B(i, j) * E(j, k) * G(k, l, m)

# fewer steps with precompute(B(i, j) * E(j, k), {i, k}, {i, k}, W4, {compressed, dense})
forall(i) forall(l) forall(k) forall(m) H(i, l) += W4(i, k) * G(k, l, m) where
forall(i) forall(k) forall(j) W4(i, k) += B(i, j) * E(j, k)
    # W4 is a whole tensor: variables that do not index it are summed ahead

# one process
# one processor
accumulate W4[:, :]
fetch B[:, :]
fetch E[:, :]
# entries of 'W4' are found in the order in which they are stored
# loops: 'W4' is sparse
for i in 0 .. n:
    for j in 0 .. n:
        for k in 0 .. r:
            W4(i, k) += B(i, j) * E(j, k)
release E
release B
reduce W4
accumulate H[:, :]
fetch W4[:, :]
fetch G[:, :, :]
# loops: 'W4' is sparse
for i in 0 .. n:
    for k in 0 .. r:
        for l in 0 .. n:
            for m in 0 .. n:
                H(i, l) += W4(i, k) * G(k, l, m)
release G
release W4
reduce H

# P(i, l) = Q(i, j) * Q(j, k) * Q(k, l)

forall(i) forall(l) forall(j) forall(k) P(i, l) += Q(i, j) * Q(j, k) * Q(k, l)

# fewer steps with precompute(Q(i, j) * Q(j, k), {i, k}, {i, k}, W5, {dense, compressed})
forall(i) forall(l) forall(k) P(i, l) += W5(i, k) * Q(k, l) where
forall(i) forall(k) forall(j) W5(i, k) += Q(i, j) * Q(j, k)
    # W5 is a whole tensor: variables that do not index it are summed ahead

# with the defaults
forall(io) forall(ii) forall(l) forall(k) P(i, l) += W5(i, k) * Q(k, l) where
forall(io) forall(ii) forall(k) forall(j) W5(i, k) += Q(i, j) * Q(j, k)
    s.t. divide(i, io, ii, 4), distribute(io, M[0])

# one process
# processors: M = grid(4)
# blocks: |ii| = ceil_div(n, 4)
for all P(io) in parallel:
    accumulate W5[io * |ii| : (io + 1) * |ii|, :]
    fetch Q[io * |ii| : (io + 1) * |ii|, :]
    fetch Q[:, :]
    # entries of 'W5' are found row by row, and sorted within a row; values of a row are added to an array of the thread, then copied
    # loops: 'W5' is sparse
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        for j in 0 .. n:
            for k in 0 .. n:
                W5(i, k) += Q(i, j) * Q(j, k)
    release Q
    release Q
    reduce W5
for all P(io) in parallel:
    accumulate P[io * |ii| : (io + 1) * |ii|, :]
    fetch W5[io * |ii| : (io + 1) * |ii|, :]
    fetch Q[:, :]
    # entries of 'P' are found row by row, and sorted within a row; values of a row are added to an array of the thread, then copied
    # loops: 'P' is sparse
    for ii in 0 .. min(|ii|, n - io * |ii|):
        i = io * |ii| + ii
        for k in 0 .. n:
            for l in 0 .. n:
                P(i, l) += W5(i, k) * Q(k, l)
    release Q
    release W5
    reduce P
