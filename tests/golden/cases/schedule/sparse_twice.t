# run: schedule {file} -n 2 --in B=random:147:0.5
# A placement has the modes of one access of a tensor that is used several times.
--- program
tensor a: i64
tensor B(10, 10): i64, csr
a = B(i, j) * B(j, k) * B(i, k)
--- stdout
# sparse_twice.distal on 2 ranks: 1.42 us, at most 752 B of memory in a rank
#
# a = B(i, j) * B(j, k) * B(i, k)
#     time  moved  messages  memory  computed on               data moves
#  1.42 us    8 B         1   752 B  -                         no schedule, on one rank
#  2.39 us  232 B         2  2264 B  grid(2) over i            at once
#  2.39 us  232 B         2  2264 B  grid(2) over weighted(i)  at once
#  2.39 us  240 B         2  2548 B  grid(2) over k            at once
#  3.28 us  272 B         3  3348 B  grid(2) over ~fuse(i, j)  at once
#  3.31 us  328 B         3  3360 B  grid(2) over j            at once
#  3.31 us  336 B         3  3588 B  grid(2) over weighted(j)  at once

tensor a: i64
tensor B(10, 10): i64, {dense, compressed}

a = B(i, j) * B(j, k) * B(i, k)
