# Statements count as often as they are executed.
# run: schedule {file} -n 4
--- program
param n = 1000
tensor u(n, n): f64
tensor v(n, n): f64
tensor d: f64
repeat 100 {
  v(i, j) = u(i - 1, j) + u(i + 1, j)
  d = sum({i, j}, abs(v(i, j) - u(i, j)))
  u(i, j) = v(i, j)
} until d < 0.01
--- stdout
# repetition.distal on 4 ranks: 10.8 ms, at most 3.8 MiB of memory in a rank
#
# v(i, j) = u(i - 1, j) + u(i + 1, j)
#     time  moved  messages   memory  computed on     data moves
#  26.7 us    0 B         0  3.8 MiB  grid(4) over j  at once
#  26.7 us    0 B         0  3.8 MiB  -               no schedule
#
# d = sum({i, j}, abs(v(i, j) - u(i, j)))
#     time  moved  messages   memory  computed on     data moves
#  55.1 us    8 B         1  3.8 MiB  grid(4) over j  at once
#  55.1 us    8 B         1  3.8 MiB  -               no schedule
#
# u(i, j) = v(i, j)
#     time  moved  messages   memory  computed on     data moves
#  26.7 us    0 B         0  3.8 MiB  grid(4) over j  at once
#  26.7 us    0 B         0  3.8 MiB  -               no schedule

param n = 1000
machine M = grid(4)
tensor u(n, n): f64
tensor v(n, n): f64
tensor d: f64
place u(x0, x1) -> M(x1)
place v(x0, x1) -> M(x1)

repeat 100 {
  v(i, j) = u(i - 1, j) + u(i + 1, j)

  schedule v {
    distribute({j}, {jo}, {ji}, M)
  }

  d = sum({i, j}, abs(v(i, j) - u(i, j)))

  schedule d {
    distribute({j}, {jo}, {ji}, M)
  }

  u(i, j) = v(i, j)

  schedule u {
    distribute({j}, {jo}, {ji}, M)
  }
} until d < 0.01
