# run: schedule {file} -n 2 --in B=sparse:1:1000 --memory-limit 9K
--- program
tensor y(50): f64
tensor B(50, 50): f64, csr
tensor x(50): f64
y(i) = B(i, j) * x(j)
--- stdout
# sparse_limit.distal on 2 ranks: 0.529 us, at most 5684 B of memory in a rank
#
# y(i) = B(i, j) * x(j)
#      time  moved  messages   memory  computed on               data moves
#  0.529 us    0 B         0   5684 B  grid(2) over weighted(i)  at once
#   0.53 us    0 B         0   5716 B  grid(2) over i            at once
#   1.43 us    8 B         1   5812 B  grid(2) over ~fuse(i, j)  at once
#   1.48 us  200 B         1   6020 B  grid(2) over j            at once
#   1.48 us  200 B         1   6020 B  grid(2) over weighted(j)  at once
#  0.558 us    0 B         0  10784 B  -                         no schedule, on one rank: more than the limit

machine M = grid(2)
tensor y(50): f64
tensor B(50, 50): f64, {dense, compressed}
tensor x(50): f64
place B(x0, x1) -> M(weighted(x0))
place x(x0) -> M(*)
place y(x0) -> M(weighted(x0, B))

y(i) = B(i, j) * x(j)
