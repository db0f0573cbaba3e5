# A plan that takes more than the limit is shown and refused, with what would fit as other plans have shown: a
# smaller piece, or more ranks. d follows p, and so is not changed itself.
# run: plan {file} --memory-limit 700K
# status: 1
--- program
param n = 300, p = 2, d = p, chunk = 300
machine M = grid(p, d)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x, y) -> M(x, y)
place B(x, y) -> M(x, y)
place C(x, y) -> M(x, y)
A(i, j) = B(i, k) * C(k, j)
schedule A {
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  split(k, ko, ki, chunk)
  reorder({ko, ii, ji, ki})
  communicate({B, C}, ko)
}
--- stdout
memory_limit.distal on 4 ranks

A(i, j) = B(i, k) * C(k, j)
  54000000 flop; at most 1.2 MiB of memory in a rank

                                        moved      moved      messages      home   buffers
  tensor  pattern     at  steps  busiest rank  all ranks  busiest rank   largest   largest
  A       local       jo      1           0 B        0 B             0  180000 B       0 B
  B       broadcast   ko      1      180000 B   720000 B             1  180000 B  360000 B
  C       all-gather  ko      1      180000 B   720000 B             1  180000 B  360000 B
--- stderr
distal: error: rank 0 needs 1.2 MiB of memory, more than the limit of 716800 B
distal: note: rank 0 while it computes A: A 180000 B at home; B 180000 B at home, 360000 B in buffers; C 180000 B at home, 360000 B in buffers
distal: note: with -p chunk=38, no rank would need more than 631200 B
distal: note: with -p p=8 on 64 ranks, no rank would need more than 217056 B
