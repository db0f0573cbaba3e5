# run: help distribute
--- program
tensor a: f64
--- stdout
distribute({i, ...}, {io, ...}, {ii, ...}, M)
  iterations of i on different processors; with M, a machine, a level of it or a tensor, i is
  divided into io, distributed, and ii

example:
  # Each of 2 x 2 processors computes the block of A that it holds.
  machine M = grid(2, 2)
  tensor A(1000, 1000): f64
  tensor b(1000): f64
  tensor c(1000): f64
  place A(x, y) -> M(x, y)
  place b(x) -> M(x, 0)
  place c(x) -> M(0, x)
  A(i, j) = b(i) * c(j)
  schedule A {
    distribute({i, j}, {io, jo}, {ii, ji}, M)
  }

loops before:
  forall(i) forall(j) A(i, j) = b(i) * c(j)

loops after:
  forall(io) forall(jo) forall(ii) forall(ji) A(i, j) = b(i) * c(j)
      s.t. divide(i, io, ii, 2), divide(j, jo, ji, 2), distribute(io, M[0]), distribute(jo, M[1])
