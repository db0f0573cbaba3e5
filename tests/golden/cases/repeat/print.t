# Repetitions inside of each other, which begin and end at the same statement, with schedules.
# run: explain --stop-after program {file}
--- program
param n = 8, m = 3
machine M = grid(2)
tensor A(n, n): f64
tensor x(n): f64
tensor y(n): f64
tensor s: f64
tensor c: i64
place A(i, j) -> M(i)
repeat m { repeat 2 * m - 1 { y(i) = A(i, j) * x(j)
  schedule y { split(j, jo, ji, 4) }
  s = y(i) * y(i) ; } until sqrt(s) < 1e-3
  x(i) = y(i) / s; c = 1; c += 2 } until -2 * s + c < -3
repeat (1) { x(i) = 2 * y(i) }
--- stdout
param n = 8, m = 3
machine M = grid(2)
tensor A(n, n): f64
tensor x(n): f64
tensor y(n): f64
tensor s: f64
tensor c: i64
place A(x0, x1) -> M(x0)

repeat m {
  repeat 2 * m - 1 {
    y(i) = A(i, j) * x(j)

    schedule y {
      split(j, jo, ji, 4)
    }

    s = y(i) * y(i)
  } until sqrt(s) < 0.001

  x(i) = y(i) / s

  c = 1

  c += 2
} until -2 * s + c < -3

repeat 1 {
  x(i) = 2 * y(i)
}
