# run: help rotate
--- program
tensor a: f64
--- stdout
rotate(t, {i, ...}, r)
  t = (r + i + ...) mod extent(t): the systolic shift

example:
  # Each processor begins with the rows of C that it holds, then gets those that its neighbour has used.
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
    divide(k, ko, ki, 4)
    reorder({ko, ii, j, ki})
    rotate(ko, {io}, kos)
    communicate(C, kos)
  }

loops before:
  forall(i) forall(j) forall(k) A(i, j) += B(i, k) * C(k, j)

loops after:
  forall(io) forall(kos) forall(ii) forall(j) forall(ki) A(i, j) += B(i, k) * C(k, j)
      s.t. divide(i, io, ii, 4), distribute(io, M[0]), divide(k, ko, ki, 4), rotate(ko, {io}, kos),
           communicate(C, kos)
