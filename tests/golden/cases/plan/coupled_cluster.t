# run: plan {file}
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
coupled_cluster.distal on 4 ranks

A(a, b, i, j) = B(a, c, i, k) * C(c, b, k, j)
  382205952 flop; at most 4.4 MiB of memory in a rank

                                      moved      moved      messages      home  buffers
  tensor  pattern  at   steps  busiest rank  all ranks  busiest rank   largest  largest
  A       local    bo       1           0 B        0 B             0  663552 B      0 B
  B       shift    cos      2      663552 B    2.5 MiB             1  663552 B  1.3 MiB
  C       shift    cos      2      663552 B    2.5 MiB             1  663552 B  1.3 MiB
