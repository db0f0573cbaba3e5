# Nothing to be distributed.
# run: schedule {file} -n 1
--- program
param m = 601, n = 397, q = 853
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64
A(i, j) = B(i, k) * C(k, j)
--- stdout
# one_rank.distal on 1 rank: 226 us, at most 8.3 MiB of memory in a rank
#
# A(i, j) = B(i, k) * C(k, j)
#    time  moved  messages   memory  computed on  data moves
#  226 us    0 B         0  8.3 MiB  -            no schedule

param m = 601, n = 397, q = 853
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64

A(i, j) = B(i, k) * C(k, j)
