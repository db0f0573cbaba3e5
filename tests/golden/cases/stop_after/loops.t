# run: explain --stop-after loops {file}
# status: 2
--- program
# Matricized tensor times Khatri-Rao product: B stays where it is, the factors C and D are broadcast to the
# blocks of B that need them, and the partial results are added up (Ballard, Knight and Rouse, 2018; DISTAL,
# section 7.2).
# B is m x n x k, the factors have l columns; `-p n=N` alone makes all extents but l equal.
param n = 96, m = n, k = n, l = 32, gx = 2, gy = 2, gz = 1

machine M = grid(gx, gy, gz)

tensor A(m, l): f64
tensor B(m, n, k): f64
tensor C(n, l): f64
tensor D(k, l): f64

place A(x, w) -> M(x, 0, 0)
place B(x, y, z) -> M(x, y, z)
place C(y, w) -> M(0, y, 0)
place D(z, w) -> M(0, 0, z)

A(i, l) = B(i, j, k) * C(j, l) * D(k, l)

schedule A {
  distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
  communicate({A, B, C, D}, ko)
}
--- stderr
loops.distal:19:6: error: index l, which is 32, lies outside of mode 1 of 'A' (extent 32)
  19 | A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
     |      ^
loops.distal: note: 'l' is a param, so this index is one coordinate; an index variable has a name of its own
