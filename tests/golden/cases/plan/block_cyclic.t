# run: plan -p n=97 -p m=101 -p q=89 -p gx=2 -p gy=3 -p mb=8 -p nb=5 {file}
--- program
# SUMMA on matrices that lie as ScaLAPACK has them: block-cyclic, in blocks of mb x nb (its descriptors' MB and
# NB) distributed round-robin over a gx x gy grid of processes (Blackford et al., 1997). `order(1, 0)` stores columns, as
# Fortran does, so what a process holds is the local array of ScaLAPACK. Nothing is redistributed: the loops
# follow A, and each process multiplies what it has in one piece.
# A is m x n, B is m x q, C is q x n; `-p n=N` alone makes all of them square.
param n = 1000, m = n, q = n, gx = 2, gy = 2, mb = 64, nb = 64

machine M = grid(gx, gy)

tensor A(m, n): f64, order(1, 0)
tensor B(m, q): f64, order(1, 0)
tensor C(q, n): f64, order(1, 0)

place A(x, y) -> M(cyclic(x, mb), cyclic(y, nb))
place B(x, y) -> M(cyclic(x, mb), cyclic(y, nb))
place C(x, y) -> M(cyclic(x, mb), cyclic(y, nb))

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j}, {io, jo}, {ii, ji}, A)
  split(k, ko, ki, nb)
  reorder({ko, ii, ji, ki})
  communicate(A, jo)
  communicate({B, C}, ko)
  substitute({ii, ji, ki}, gemm)
}
--- stdout
block_cyclic.distal on 6 ranks

A(i, j) = B(i, k) * C(k, j)
  1743866 flop; at most 44520 B of memory in a rank

                                       moved      moved      messages     home  buffers
  tensor  pattern    at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local      jo      1           0 B        0 B             0  14840 B      0 B
  B       broadcast  ko     18       25440 B   143824 B            12  12720 B   2120 B
  C       broadcast  ko     18       13440 B    69064 B            14  13440 B   1400 B
