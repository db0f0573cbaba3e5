# run: explain --stop-after schedule {file}
--- program
# Rows inside of loops: a block of a row where its outer loop is outside, a scalar, a row that several nests fill, and
# threads that have rows of their own.
param n = 300, m = 200
tensor A(n, m): f64
tensor B(n, n, n): f64
tensor C(n, m): f64
tensor D(n, m): f64
tensor c(n): f64
tensor y(n): f64
tensor z(n, m): f64
A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
schedule A {
  precompute(B(i, j, k) * D(k, l), {l}, {l}, w)
  split(l, lo, li, 64)
  reorder({lo, i, j, li})
}
y(i) = sqrt(B(i, j, k) * c(k))
schedule y {
  precompute(B(i, j, k) * c(k), {}, {}, s)
}
z(i, l) = C(i, l) + B(i, i, k) * D(k, l)
schedule z {
  precompute(C(i, l) + B(i, i, k) * D(k, l), {l}, {lw}, v)
  parallelize(i, cpu_thread)
}
--- stdout
forall(lo) forall(i) forall(j)
  forall(li) A(i, l) += w(l) * C(j, l) where
  forall(li) forall(k) w(l) += B(i, j, k) * D(k, l)
    s.t. split(l, lo, li, 64)

forall(i) forall(j) forall(k)
  y(i) += sqrt(s) where
  s = B(i, j, k) * c(k)

forall(i)
  forall(l) z(i, l) = v(l) where
  forall(lw) v(lw) = C(i, lw) ;
  forall(lw) forall(k) v(lw) += B(i, i, k) * D(k, lw)
    s.t. parallelize(i, cpu_thread)
