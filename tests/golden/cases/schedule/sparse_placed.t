# run: schedule {file} --in B=sparse:1:5000
# The default computes where B lies.
--- program
param n = 500
machine M = grid(4)
tensor A(n, n): f64, csr
tensor B(n, n): f64, csr
place B(x, y) -> M(~fuse(x, y))
A(i, j) = 2 * B(i, j)
--- stdout
# sparse_placed.distal on 4 ranks: 0.709 us, at most 34448 B of memory in a rank
# entries of A are not known: about 4944 are estimated
#
# A(i, j) = 2 * B(i, j)
#      time    moved  messages    memory  computed on           data moves
#  0.709 us      0 B         0   34448 B  -                     no schedule
#    2.2 us   1048 B         1   74924 B  grid(4) over i        at once
#   3.99 us   5408 B         2   80772 B  grid(2, 2) over i, j  at once
#   4.27 us   9888 B         1   92508 B  grid(3) over i        at once
#   5.38 us   7632 B         3   87192 B  grid(4) over j        at once
#   6.16 us  10192 B         3  101200 B  grid(3) over j        at once

param n = 500
machine M = grid(4)
tensor A(n, n): f64, {dense, compressed}
tensor B(n, n): f64, {dense, compressed}
place B(x0, x1) -> M(~fuse(x0, x1))

A(i, j) = 2 * B(i, j)
