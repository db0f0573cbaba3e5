# run: schedule {file} -n 4096 -p m=20000 -p n=20000 -p q=20000
--- program
param m = 601, n = 397, q = 853
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64
A(i, j) = B(i, k) * C(k, j)
--- stdout
# many_ranks.distal on 4096 ranks: 240 ms, at most 52.1 MiB of memory in a rank
#
# A(i, j) = B(i, k) * C(k, j)
#    time     moved  messages    memory  computed on                    data moves
#  240 ms  35.5 MiB        35  52.1 MiB  grid(15, 15, 18) over i, j, k  at once
#  238 ms  35.7 MiB        20  36.7 MiB  grid(15, 16, 17) over j, i, k  at once
#  238 ms  35.7 MiB        20  50.0 MiB  grid(15, 16, 17) over i, j, k  at once
#  240 ms  35.9 MiB        19  49.4 MiB  grid(15, 17, 16) over i, j, k  at once
#  242 ms  35.7 MiB        20  36.7 MiB  grid(16, 15, 17) over j, i, k  at once
#  242 ms  35.7 MiB        20  50.0 MiB  grid(16, 15, 17) over i, j, k  at once
#  244 ms  35.7 MiB        20  49.4 MiB  grid(15, 16, 17) over i, k, j  at once
#  247 ms  35.9 MiB        19  36.7 MiB  grid(15, 17, 16) over i, k, j  at once

param m = 20000, n = 20000, q = 20000
machine M = grid(15, 15, 18)
machine M2 = grid(4096)
machine M3 = grid(15, 270)
machine M4 = grid(225, 18)
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64
place A(x0, x1) -> M3(x0, x1)
place B(x0, x1) -> M4(x0, x1)
place C(x0, x1) -> M(0, x1, x0)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
}
