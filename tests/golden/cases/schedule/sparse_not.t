# run: schedule {file} -n 2 --in B=sparse:1:100 --in C=sparse:2:100
# The entries of A would be sent to its first rank.
--- program
machine M = grid(2)
tensor A(40, 40): f64, csr
tensor B(40, 40): f64, csr
tensor C(40, 40): f64, csr
place A(x, y) -> M(0)
A(i, j) = B(i, k) * C(k, j)
--- stdout
# sparse_not.distal on 2 ranks: 0.517 us, at most 6380 B of memory in a rank
# entries of A are not known: about 228 are estimated
#
# A(i, j) = B(i, k) * C(k, j)
#      time  moved  messages  memory  computed on  data moves
#  0.517 us    0 B         0  6380 B  -            no schedule, on one rank
# it cannot be distributed: what moves of 'A' is known only when it has been computed

machine M = grid(2)
tensor A(40, 40): f64, {dense, compressed}
tensor B(40, 40): f64, {dense, compressed}
tensor C(40, 40): f64, {dense, compressed}
place A(x0, x1) -> M(0)

A(i, j) = B(i, k) * C(k, j)
