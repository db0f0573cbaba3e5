# run: help communicate
--- program
tensor a: f64
--- stdout
communicate({T, ...}, i)
  gather what each T needs under one iteration of i at its start

example:
  # All of C passes by every processor, 100 rows at a time.
  machine M = grid(4)
  tensor A(1000, 1000): f64
  tensor B(1000, 1000): f64
  tensor C(1000, 1000): f64
  place A(x, y) -> M(x)
  place B(x, y) -> M(x)
  place C(x, y) -> M(x)
  A(i, j) = B(i, k) * C(k, j)
  schedule A {
    distribute({i}, {io}, {ii}, M)
    split(k, ko, ki, 100)
    reorder({ko, ii, j, ki})
    communicate(C, ko)
  }

loops before:
  forall(i) forall(j) forall(k) A(i, j) += B(i, k) * C(k, j)

loops after:
  forall(io) forall(ko) forall(ii) forall(j) forall(ki) A(i, j) += B(i, k) * C(k, j)
      s.t. divide(i, io, ii, 4), distribute(io, M[0]), split(k, ko, ki, 100), communicate(C, ko)
