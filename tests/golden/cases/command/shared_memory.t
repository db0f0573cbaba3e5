# Two nodes of two ranks: C is read in place of the one beside, and comes to the others in messages.
# run: plan {file} --shared-memory 2
--- program
param n = 48
machine M = grid(4)
tensor A(n, n): f32
tensor B(n, n): f32
tensor C(n, n): f32
place A(x, y) -> M(x)
place B(x, y) -> M(x)
place C(x, y) -> M(x)
A(i, j) = B(i, k) * C(k, j)
schedule A {
  distribute({i}, {io}, {ii}, M)
  divide(k, ko, ki, 4)
  reorder({ko, ii, j, ki})
  communicate({B, C}, ko)
}
--- stdout
shared_memory.distal on 4 ranks

A(i, j) = B(i, k) * C(k, j)
  221184 flop; at most 9216 B of memory in a rank

                                       moved      moved      messages     home  buffers
  tensor  pattern    at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local      io      1           0 B        0 B             0   2304 B      0 B
  B       local      ko      4           0 B        0 B             0   2304 B      0 B
  C       broadcast  ko      4        6912 B    27648 B             3   2304 B   2304 B
