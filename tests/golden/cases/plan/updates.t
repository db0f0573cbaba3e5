# The left side where it is not computed: old values are fetched, new ones replace them, on all replicas.
# run: plan --ranks 4 {file}
--- program
machine M = grid(2, 2)
tensor X(8, 6): f64
tensor Y(8, 6): f64
place X(x, y) -> M(x, *)
place Y(x, y) -> M(y, x)
X(i, j) = X(i, j) * Y(i, j)
schedule X {
  distribute({i, j}, {io, jo}, {ii, ji}, Y)
}
--- stdout
updates.distal on 4 ranks

X(i, j) = X(i, j) * Y(i, j)
  48 flop; at most 672 B of memory in a rank

                                     moved      moved      messages     home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest
  X       reduce   jo      1         192 B      576 B             2    192 B    384 B
  Y       local    jo      1           0 B        0 B             0     96 B      0 B
