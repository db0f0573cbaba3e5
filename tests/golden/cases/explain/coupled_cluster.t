# run: explain {file}
--- program
# A contraction of coupled-cluster theory, by Cannon's algorithm on the modes a, b and c: tensors of order 4
# placed by their first two modes, B and C going round the grid one place a step.
# Modes a, b, c run over v (virtual) orbitals and i, j, k over o (occupied) ones, each extent its own param;
# `-p n=N` alone makes all extents equal.
param n = 24, v = n, o = n, gx = 2, gy = 2
param na = v, nb = v, nc = v, ni = o, nj = o, nk = o

machine M = grid(gx, gy)

tensor A(na, nb, ni, nj): f64
tensor B(na, nc, ni, nk): f64
tensor C(nc, nb, nk, nj): f64

place A(x, y, z, w) -> M(x, y)
place B(x, y, z, w) -> M(x, y)
place C(x, y, z, w) -> M(x, y)

A(a, b, i, j) = B(a, c, i, k) * C(c, b, k, j)

schedule A {
  distribute({a, b}, {ao, bo}, {al, bl}, M)
  divide(c, co, ci, gx)
  reorder({co, al, bl, i, j, ci, k})
  rotate(co, {ao, bo}, cos)
  communicate(A, bo)
  communicate({B, C}, cos)
}
--- stdout
# A(a, b, i, j) = B(a, c, i, k) * C(c, b, k, j)

forall(a) forall(b) forall(i) forall(j) forall(c) forall(k)
  A(a, b, i, j) += B(a, c, i, k) * C(c, b, k, j)

# after distribute({a, b}, {ao, bo}, {al, bl}, M)
forall(ao) forall(bo) forall(al) forall(bl) forall(i) forall(j) forall(c) forall(k)
  A(a, b, i, j) += B(a, c, i, k) * C(c, b, k, j)
    s.t. divide(a, ao, al, gx), divide(b, bo, bl, gy), distribute(ao, M[0]), distribute(bo, M[1])

# after divide(c, co, ci, gx)
forall(ao) forall(bo) forall(al) forall(bl) forall(i) forall(j) forall(co) forall(ci) forall(k)
  A(a, b, i, j) += B(a, c, i, k) * C(c, b, k, j)
    s.t. divide(a, ao, al, gx), divide(b, bo, bl, gy), distribute(ao, M[0]), distribute(bo, M[1]),
         divide(c, co, ci, gx)

# after reorder({co, al, bl, i, j, ci, k})
forall(ao) forall(bo) forall(co) forall(al) forall(bl) forall(i) forall(j) forall(ci) forall(k)
  A(a, b, i, j) += B(a, c, i, k) * C(c, b, k, j)
    s.t. divide(a, ao, al, gx), divide(b, bo, bl, gy), distribute(ao, M[0]), distribute(bo, M[1]),
         divide(c, co, ci, gx)

# after rotate(co, {ao, bo}, cos)
forall(ao) forall(bo) forall(cos) forall(al) forall(bl) forall(i) forall(j) forall(ci) forall(k)
  A(a, b, i, j) += B(a, c, i, k) * C(c, b, k, j)
    s.t. divide(a, ao, al, gx), divide(b, bo, bl, gy), distribute(ao, M[0]), distribute(bo, M[1]),
         divide(c, co, ci, gx), rotate(co, {ao, bo}, cos)

# after communicate(A, bo)
forall(ao) forall(bo) forall(cos) forall(al) forall(bl) forall(i) forall(j) forall(ci) forall(k)
  A(a, b, i, j) += B(a, c, i, k) * C(c, b, k, j)
    s.t. divide(a, ao, al, gx), divide(b, bo, bl, gy), distribute(ao, M[0]), distribute(bo, M[1]),
         divide(c, co, ci, gx), rotate(co, {ao, bo}, cos), communicate(A, bo)

# after communicate({B, C}, cos)
forall(ao) forall(bo) forall(cos) forall(al) forall(bl) forall(i) forall(j) forall(ci) forall(k)
  A(a, b, i, j) += B(a, c, i, k) * C(c, b, k, j)
    s.t. divide(a, ao, al, gx), divide(b, bo, bl, gy), distribute(ao, M[0]), distribute(bo, M[1]),
         divide(c, co, ci, gx), rotate(co, {ao, bo}, cos), communicate(A, bo), communicate(B, cos),
         communicate(C, cos)

# one process
# processors: M = grid(gx, gy)
# blocks: |al| = ceil_div(na, gx), |bl| = ceil_div(nb, gy), |ci| = ceil_div(nc, gx)
for all P(ao, bo) in parallel:
    accumulate A[ao * |al| : (ao + 1) * |al|, bo * |bl| : (bo + 1) * |bl|, :, :]
    for cos in 0 .. gx:
        fetch B[ao * |al| : (ao + 1) * |al|, (cos + ao + bo) % gx * |ci| : ((cos + ao + bo) % gx + 1) * |ci|, :, :]
        fetch C[(cos + ao + bo) % gx * |ci| : ((cos + ao + bo) % gx + 1) * |ci|, bo * |bl| : (bo + 1) * |bl|, :, :]
        co = (cos + ao + bo) % gx
        gemm((al, i), (bl, j), (ci, k)): A(a, b, i, j) += B(a, c, i, k) * C(c, b, k, j)
            al in 0 .. min(|al|, na - ao * |al|), a = ao * |al| + al
            i in 0 .. ni
            bl in 0 .. min(|bl|, nb - bo * |bl|), b = bo * |bl| + bl
            j in 0 .. nj
            ci in 0 .. min(|ci|, nc - co * |ci|), c = co * |ci| + ci
            k in 0 .. nk
        release C
        release B
    reduce A
