# A statement with a schedule keeps it.
# run: schedule {file}
--- program
machine M = grid(4)
tensor A(100, 100): f64
tensor B(100, 100): f64
tensor C(100, 100): f64
tensor D(100, 100): f64
place A(x, y) -> M(x)
place B(x, y) -> M(x)
place C(x, y) -> M(x)
A(i, j) = B(i, k) * C(k, j)
schedule A {
  distribute({i}, {io}, {ii}, M)
  split(k, ko, ki, 25)
  reorder({ko, ii, j, ki})
  communicate(C, ko)
}
D(i, j) = A(j, i)
--- stdout
# schedule_kept.distal on 4 ranks: 31.7 us, at most 100000 B of memory in a rank
#
# D(i, j) = A(j, i)
#      time  moved  messages   memory  computed on     data moves
#  0.267 us    0 B         0  80000 B  grid(4) over j  at once
#  0.267 us    0 B         0  80000 B  -               no schedule

machine M = grid(4)
tensor A(100, 100): f64
tensor B(100, 100): f64
tensor C(100, 100): f64
tensor D(100, 100): f64
place A(x0, x1) -> M(x0)
place B(x0, x1) -> M(x0)
place C(x0, x1) -> M(x0)
place D(x0, x1) -> M(x1)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i}, {io}, {ii}, M)
  split(k, ko, ki, 25)
  reorder({ko, ii, j, ki})
  communicate(C, ko)
}

D(i, j) = A(j, i)

schedule D {
  distribute({j}, {jo}, {ji}, M)
}
