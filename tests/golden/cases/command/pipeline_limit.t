# Two buffers each do not fit: one each does.
# run: plan {file} --pipeline on --memory-limit 17000
--- program
param n = 48
machine M = grid(2)
tensor A(n, n): f32
tensor B(n, n): f32
tensor C(n, n): f32
place A(x, y) -> M(x)
place B(x, y) -> M(y)
place C(x, y) -> M(x)
A(i, j) = B(i, k) * C(k, j)
schedule A {
  distribute({i}, {io}, {ii}, M)
  split(k, ko, ki, 8)
  reorder({ko, ii, j, ki})
  communicate({B, C}, ko)
}
--- stdout
pipeline_limit.distal on 2 ranks

A(i, j) = B(i, k) * C(k, j)
  221184 flop; at most 16128 B of memory in a rank

                                       moved      moved      messages     home  buffers
  tensor  pattern    at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local      io      1           0 B        0 B             0   4608 B      0 B
  B       exchange   ko      6        2304 B     4608 B             3   4608 B    768 B
  C       broadcast  ko      6        4608 B     9216 B             3   4608 B   1536 B
