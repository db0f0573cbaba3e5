# run: check {file}
# status: 2
--- program
param n = 12, g = 2, h = 3
machine M = grid(g, h)
machine L = node grid(g), core grid(h)
machine N = grid(g * h)
tensor B(n, n): f64
tensor C(n, n): f64
tensor P(n, n): f64
tensor Q(n, n): f64
tensor R(n, n): f64
tensor I(n, n): i32
place P(x, y) -> M(x, y)
place Q(x, y) -> L.node(x), Q(z, w) -> L.core(z)
place R(x, y) -> M(0, 1)
tensor T0(n, n): f64
T0(i, j) = B(i, k) * C(k, j)
schedule T0 { substitute({i, k}, gemm) }
tensor T2(n, n): f64
T2(i, j) = B(i, k) * C(k, j)
schedule T2 { substitute({i, j}, ger) }
tensor T3(n, n): f64
T3(i, j) = B(i, k) * C(k, j)
schedule T3 { communicate(B, k); substitute({i, j, k}, gemm) }
tensor T4(n, n): f64
T4(i, j) = B(i, k) * C(k, j)
schedule T4 { substitute({i, j}, gemm) }
tensor T6(n, n): f64
T6(i, j) = B(i, k) * C(k, j)
schedule T6 { parallelize(k, cpu_thread, atomic); substitute({j}, axpy); reorder({k, i, j}) }
tensor T9(n, n): f64
T9(i, j) = B(i, k) * C(k, j)
schedule T9 { substitute({i, j, k}, gemm); unroll(k, 2) }
tensor T11(n, n): f64
T11(i, j) = B(i, k) * C(k, j)
schedule T11 { communicate(B, k); parallelize(i, cpu_thread) }
tensor T12(n, n): f64
T12(i, j) = B(i, k) * C(k, j)
schedule T12 { distribute(i); unroll(i, 2) }
--- stderr
leaves.distal:16:15: error: cannot substitute: the loops of substitute({i, k}, gemm) must be innermost, but 'j' is inside of them (loops: i j k)
  16 | schedule T0 { substitute({i, k}, gemm) }
     |               ^~~~~~~~~~~~~~~~~~~~~~~~
leaves.distal:19:15: error: cannot substitute: the loops of substitute({i, j}, ger) must be innermost, but 'k' is inside of them (loops: i j k)
  19 | schedule T2 { substitute({i, j}, ger) }
     |               ^~~~~~~~~~~~~~~~~~~~~~~
leaves.distal:22:45: error: cannot substitute: 'k' is already used by communicate(B, k)
  22 | schedule T3 { communicate(B, k); substitute({i, j, k}, gemm) }
     |                                             ^~~~~~~~~
leaves.distal:25:15: error: cannot substitute: the loops of substitute({i, j}, gemm) must be innermost, but 'k' is inside of them (loops: i j k)
  25 | schedule T4 { substitute({i, j}, gemm) }
     |               ^~~~~~~~~~~~~~~~~~~~~~~~
leaves.distal:28:51: error: cannot substitute: the loops of substitute({j}, axpy) must be innermost, but 'k' is inside of them (loops: i j k)
  28 | schedule T6 { parallelize(k, cpu_thread, atomic); substitute({j}, axpy); reorder({k, i, j}) }
     |                                                   ^~~~~~~~~~~~~~~~~~~~~
leaves.distal:31:51: error: cannot unroll: 'k' is already used by substitute({i, j, k}, gemm)
  31 | schedule T9 { substitute({i, j, k}, gemm); unroll(k, 2) }
     |                                                   ^
leaves.distal:34:35: error: cannot parallelize: tensors are communicated at 'k', which is inside of the parallel loop 'i'
  34 | schedule T11 { communicate(B, k); parallelize(i, cpu_thread) }
     |                                   ^~~~~~~~~~~~~~~~~~~~~~~~~~
leaves.distal:37:38: error: cannot unroll: 'i' is already used by distribute(i)
  37 | schedule T12 { distribute(i); unroll(i, 2) }
     |                                      ^
