# run: schedule {file} -n 2 --in B=random:147:0.2
# Each column has equally many elements, as the last level stores all: entries cannot balance these.
--- program
tensor y(12): f64
tensor B(10, 12): f64, {compressed, dense}
tensor x(10): f64
y(j) = B(i, j) * x(i)
--- stdout
# sparse_blocks.distal on 2 ranks: 0.504 us, at most 612 B of memory in a rank
#
# y(j) = B(i, j) * x(i)
#      time  moved  messages  memory  computed on               data moves
#  0.504 us    0 B         0   612 B  grid(2) over j            at once
#  0.508 us    0 B         0  1092 B  -                         no schedule, on one rank
#   1.42 us   48 B         1   700 B  grid(2) over i            at once
#   1.42 us   48 B         1   700 B  grid(2) over weighted(i)  at once

machine M = grid(2)
tensor y(12): f64
tensor B(10, 12): f64, {compressed, dense}
tensor x(10): f64
place y(x0) -> M(x0)
place B(x0, x1) -> M(x1)
place x(x0) -> M(*)

y(j) = B(i, j) * x(i)

schedule y {
  distribute({j}, {jo}, {ji}, M)
}
