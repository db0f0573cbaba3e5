# Products of three and more factors are computed in steps, by default.
# run: explain {file}
--- program
param n = 100, r = 10
tensor A(n, r): f64
tensor B(n, n, n): f64
tensor C(n, r): f64
tensor D(n, r): f64
tensor G(n, n): f64
tensor H(n, n): f64
tensor W: f64
# A row of W2 is enough: as much as one iteration of i needs.
A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
# The same factors in two terms.
G(i, l) = H(i, j) * H(j, k) * H(k, l) - 3 * H(i, j) * H(j, k) * B(k, l, l)
--- stdout
# A(i, l) = B(i, j, k) * C(j, l) * D(k, l)

forall(i) forall(l) forall(j) forall(k) A(i, l) += B(i, j, k) * C(j, l) * D(k, l)

# fewer steps with precompute(B(i, j, k) * D(k, l), {i, j, l}, {i, j, l}, W2)
forall(i) forall(l) forall(j) A(i, l) += W2(i, j, l) * C(j, l) where
forall(i) forall(j) forall(l) forall(k) W2(i, j, l) += B(i, j, k) * D(k, l)
    # W2 is a whole tensor: variables that do not index it are summed ahead

# one process
# one processor
accumulate W2[:, :, :]
fetch B[:, :, :]
fetch D[:, :]
gemm((i, j), l, k): W2(i, j, l) += B(i, j, k) * D(k, l)
    i in 0 .. n
    j in 0 .. n
    l in 0 .. r
    k in 0 .. n
release D
release B
reduce W2
accumulate A[:, :]
fetch W2[:, :, :]
fetch C[:, :]
# loops: the operands or their indices are not those of gemm
for i in 0 .. n:
    for j in 0 .. n:
        for l in 0 .. r:
            A(i, l) += W2(i, j, l) * C(j, l)
release C
release W2
reduce A

# G(i, l) = H(i, j) * H(j, k) * H(k, l) - 3 * H(i, j) * H(j, k) * B(k, l, l)

forall(i) forall(l) forall(j) forall(k)
  G(i, l) += H(i, j) * H(j, k) * H(k, l) - 3 * H(i, j) * H(j, k) * B(k, l, l)

# fewer steps with precompute(H(j, k) * H(k, l), {j, l}, {j, l}, W3)
forall(i) forall(l) forall(j) G(i, l) += H(i, j) * W3(j, l) ;
forall(i) forall(l) forall(j) forall(k) G(i, l) += -(3 * H(i, j) * H(j, k) * B(k, l, l)) where
forall(j) forall(l) forall(k) W3(j, l) += H(j, k) * H(k, l)
    # W3 is a whole tensor: variables that do not index it are summed ahead

# fewer steps with precompute(H(j, k) * B(k, l, l), {j, l}, {j, l}, W4)
forall(i) forall(l) forall(j) G(i, l) += H(i, j) * W3(j, l) - 3 * H(i, j) * W4(j, l) where
forall(j) forall(l) forall(k) W4(j, l) += H(j, k) * B(k, l, l) where
forall(j) forall(l) forall(k) W3(j, l) += H(j, k) * H(k, l)
    # W4 is a whole tensor: variables that do not index it are summed ahead

# one process
# one processor
accumulate W3[:, :]
fetch H[:, :]
fetch H[:, :]
gemm(j, l, k): W3(j, l) += H(j, k) * H(k, l)
    j in 0 .. n
    l in 0 .. n
    k in 0 .. n
release H
release H
reduce W3
accumulate W4[:, :]
fetch H[:, :]
fetch B[:, :, :]
for l in 0 .. n:
    gemv(j, k): W4(j, l) += H(j, k) * B(k, l, l)
        j in 0 .. n
        k in 0 .. n
release B
release H
reduce W4
accumulate G[:, :]
fetch H[:, :]
fetch W3[:, :]
fetch W4[:, :]
# loops: a sum, not a product
for i in 0 .. n:
    for j in 0 .. n:
        for l in 0 .. n:
            G(i, l) += H(i, j) * W3(j, l) - 3 * H(i, j) * W4(j, l)
release W4
release W3
release H
reduce G
