# run: plan {file}
--- program
param n = 64
tensor A(n, n): f32
tensor B(n, n): f32
tensor c(n): f32
A(i, j) = B(j, i) + c(j)
schedule A {
  split(j, jo, ji, 8)
  parallelize(i, cpu_thread)
  parallelize(ji, cpu_vector)
  unroll(jo, 2)
}
--- stdout
parallelize.distal on 1 rank

A(i, j) = B(j, i) + c(j)
  4096 flop; at most 33024 B of memory in a rank

                                     moved      moved      messages     home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local    -       1           0 B        0 B             0  16384 B      0 B
  B       local    -       1           0 B        0 B             0  16384 B      0 B
  c       local    -       1           0 B        0 B             0    256 B      0 B
