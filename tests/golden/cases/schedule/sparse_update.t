# The entries of A are those that its old entries and B give it.
# run: schedule {file} -n 3 --in A=sparse:1:200 --in B=sparse:2:200
--- program
machine M = grid(3)
tensor A(37, 37): f64, csr
tensor B(37, 37): f64, csr
place A(i, j) -> M(i)
place B(i, j) -> M(j)
A(i, j) = 2 * A(i, j) - B(i, j)
--- stdout
# sparse_update.distal on 3 ranks: 2.44 us, at most 5736 B of memory in a rank
#
# A(i, j) = 2 * A(i, j) - B(i, j)
#     time  moved  messages  memory  computed on     data moves
#  2.44 us  424 B         2  5736 B  -               no schedule
#  2.44 us  424 B         2  5736 B  grid(3) over i  at once

machine M = grid(3)
tensor A(37, 37): f64, {dense, compressed}
tensor B(37, 37): f64, {dense, compressed}
place A(x0, x1) -> M(x0)
place B(x0, x1) -> M(x1)

A(i, j) = 2 * A(i, j) - B(i, j)
