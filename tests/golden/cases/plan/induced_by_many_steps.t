# run: plan -n 1 {file}
--- program
# 30000 steps, after each of which less of A has no home yet.
tensor A(60, 100, 5): f64
tensor B(60): f64
A(k, i, l) = B(k)
schedule A {
  reorder({l, i, k})
  communicate(A, k)
}
--- stdout
induced_by_many_steps.distal on 1 rank

A(k, i, l) = B(k)
  0 flop; at most 240480 B of memory in a rank

                                     moved      moved      messages      home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank   largest  largest
  A       local    k   30000           0 B        0 B             0  240000 B      0 B
  B       local    -       1           0 B        0 B             0     480 B      0 B
