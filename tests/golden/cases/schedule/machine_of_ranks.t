# run: schedule {file}
--- program
machine M = grid(ranks, 2)
tensor A(6, 6): f64
tensor B(6, 6): f64
place A(x, y) -> M(x, y)
A(i, j) = B(j, i)
--- stdout
# machine_of_ranks.distal on 2 ranks: 0.00048 us, at most 288 B of memory in a rank
#
# A(i, j) = B(j, i)
#        time  moved  messages  memory  computed on           data moves
#  0.00048 us    0 B         0   288 B  grid(2, 2) over i, j  at once
#  0.00048 us    0 B         0   288 B  -                     no schedule
#    0.918 us   72 B         1   432 B  grid(2, 2) over j, i  at once
#     1.82 us   72 B         2   336 B  grid(2, 2) over i, j  B in chunks of 2 of i
#     1.82 us   72 B         2   336 B  grid(2, 2) over i, j  B in chunks of 2 of j
#     1.82 us   72 B         2   384 B  grid(2, 2) over j, i  A in chunks of 2 of i
#     1.82 us   72 B         2   384 B  grid(2, 2) over j, i  A in chunks of 2 of j

machine M = grid(ranks, 2)
tensor A(6, 6): f64
tensor B(6, 6): f64
place A(x0, x1) -> M(x0, x1)
place B(x0, x1) -> M(x1, x0)

A(i, j) = B(j, i)

schedule A {
  distribute({i, j}, {io, jo}, {ii, ji}, M)
}
