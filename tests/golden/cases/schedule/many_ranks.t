# run: schedule {file} -n 4096 -p m=20000 -p n=20000 -p q=20000
--- program
param m = 601, n = 397, q = 853
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64
A(i, j) = B(i, k) * C(k, j)
--- stdout
# many_ranks.distal on 4096 ranks: 243 ms, at most 35.8 MiB of memory in a rank
#
# A(i, j) = B(i, k) * C(k, j)
#    time      moved  messages     memory  computed on                    data moves
#  243 ms   35.8 MiB         3   35.8 MiB  grid(16, 16, 16) over i, j, k  at once
#  240 ms   35.9 MiB         3   35.9 MiB  grid(15, 16, 17) over i, j, k  at once
#  240 ms   35.9 MiB         3   35.9 MiB  grid(15, 17, 16) over i, j, k  at once
#  241 ms   35.9 MiB         3   35.9 MiB  grid(16, 17, 15) over i, j, k  at once
#  244 ms   35.9 MiB         3   35.9 MiB  grid(16, 15, 17) over i, j, k  at once
#  245 ms   35.9 MiB         4   48.6 MiB  grid(17, 16, 15) over i, j, k  at once
#  249 ms   35.9 MiB         4   47.8 MiB  grid(17, 15, 16) over i, j, k  at once
#  2.15 s  381.5 MiB        32  417.2 MiB  -                              no schedule

param m = 20000, n = 20000, q = 20000
machine M = grid(16, 16, 16)
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64
place A(x0, x1) -> M(x0, x1, 0)
place B(x0, x1) -> M(x0, 0, x1)
place C(x0, x1) -> M(0, x1, x0)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
}
