# Each thread but the first adds to a copy of A of its own: three times 8000 bytes in its buffers.
# run: plan {file} --threads 4
--- program
param n = 1000, g = 2
machine M = grid(g)
tensor A(n): f64
tensor B(n, n): f64
place A(x) -> M(0)
place B(x, y) -> M(y)
A(j) = B(j, i)
schedule A {
  divide(i, io, ii, g)
  reorder({io, ii, j})
  distribute(io)
  parallelize(ii, cpu_thread, reduction)
}
--- stdout
copies_of_threads.distal on 2 ranks

A(j) = B(j, i)
  1000000 flop; at most 3.9 MiB of memory in a rank

                                     moved      moved      messages     home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       reduce   io      1        8000 B     8000 B             1   8000 B  32000 B
  B       local    io      1           0 B        0 B             0  3.8 MiB      0 B
