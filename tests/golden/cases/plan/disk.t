# Tensors in disk: what is read and written, and no memory of their homes.
# run: plan {file}
--- program
param n = 24
machine M = grid(2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x, y) -> M(x) in disk
place B(x, y) -> M(x) in disk
place C(x, y) -> M(x) in disk
A(i, j) = B(i, k) * C(k, j)
schedule A {
  distribute(i, io, ii, M)
  split(ii, it, iii, 4)
  split(k, ko, ki, 8)
  reorder({it, ko, iii, j, ki})
  communicate(A, it)
  communicate({B, C}, ko)
}
--- stdout
disk.distal on 2 ranks

A(i, j) = B(i, k) * C(k, j)
  27648 flop; at most 2560 B of memory in a rank

                                       moved      moved      messages     home  buffers
  tensor  pattern    at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local      it      3           0 B        0 B             0   2304 B    768 B
  B       local      ko      9           0 B        0 B             0   2304 B    256 B
  C       broadcast  ko      9        6912 B    13824 B             6   2304 B   1536 B
  A is in disk: the busiest rank reads nothing and writes 2304 B in 3 runs
  B is in disk in tiles of 4 x 8: the busiest rank reads 2304 B in 9 runs and writes nothing
  C is in disk: the busiest rank reads 6912 B in 6 runs and writes nothing
