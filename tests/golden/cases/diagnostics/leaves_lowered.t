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
tensor T1(n, n): f64
T1(i, j) = B(i, k) * C(k, j)
schedule T1 { substitute({j, k}, dot) }
tensor T5(n, n): f64
T5(i, j) = B(i, k) * C(k, j)
schedule T5 { parallelize(k, cpu_thread, reduction) }
tensor T7(n, n): f64
T7(i, j) = B(i, k) * C(k, j)
schedule T7 { reorder({k, i, j}); parallelize(k, cpu_vector) }
tensor T8(n, n): f64
T8(i, j) = B(i, k) * C(k, j)
schedule T8 { reorder({k, i, j}); parallelize(k, cpu_thread, atomic); parallelize(j, cpu_vector) }
tensor T10(n, n): f64
T10(i, j) = B(i, k) * C(k, j)
schedule T10 { parallelize(i, cpu_vector); parallelize(j, cpu_thread) }
tensor T13(n, n): f64
T13(i, j) = B(i, k) + C(k, j)
schedule T13 { substitute({i, j, k}, gemm) }
tensor T14(n, n): f64
T14(i, j) = B(i, j) / C(i, j)
schedule T14 { substitute({i, j}, blas) }
tensor T15(n, n): f64
T15(i, j) = B(i, k) * C(k, j) * P(k, k)
schedule T15 { substitute({i, j, k}, gemm) }
tensor T16(n): f64
T16(i) = B(i, i) * C(i, k)
schedule T16 { substitute({i, k}, gemv) }
tensor T17(n, n): f64
T17(i, j) = I(i, k) * B(k, j)
schedule T17 { substitute({i, j, k}, gemm) }
tensor X2(n, n): f64
X2(i, j) = B(i, k) * C(k, j)
schedule X2 { parallelize(i, cpu_vector); parallelize(k, cpu_thread, reduction) }
tensor X3(n, n): f64
X3(i, j) = B(i, k) * C(k, j)
schedule X3 { reorder({k, i, j}); parallelize(k, cpu_thread, atomic); substitute({i, j}, ger) }

--- stderr
leaves_lowered.distal:16:15: error: cannot substitute dot: it replaces 1 loop, and 2 are named
  16 | schedule T1 { substitute({j, k}, dot) }
     |               ^~~~~~~~~~~~~~~~~~~~~~~
leaves_lowered.distal:22:35: error: cannot vectorize 'k': its iterations update the same elements of 'T7'
  22 | schedule T7 { reorder({k, i, j}); parallelize(k, cpu_vector) }
     |                                   ^~~~~~~~~~~~~~~~~~~~~~~~~~
leaves_lowered.distal:25:71: error: cannot vectorize 'j': updates inside 'k' are atomic
  25 | schedule T8 { reorder({k, i, j}); parallelize(k, cpu_thread, atomic); parallelize(j, cpu_vector) }
     |                                                                       ^~~~~~~~~~~~~~~~~~~~~~~~~~
leaves_lowered.distal:28:16: error: cannot vectorize 'i': threads work inside it, on 'j'
  28 | schedule T10 { parallelize(i, cpu_vector); parallelize(j, cpu_thread) }
     |                ^~~~~~~~~~~~~~~~~~~~~~~~~~
leaves_lowered.distal:31:16: error: cannot substitute gemm: a sum, not a product; the loops must compute C(m, n) += alpha * A(m, k) * B(k, n)
  31 | schedule T13 { substitute({i, j, k}, gemm) }
     |                ^~~~~~~~~~~~~~~~~~~~~~~~~~~
leaves_lowered.distal:34:16: error: cannot substitute blas: no kernel fits these loops (gemm: nothing is summed)
  34 | schedule T14 { substitute({i, j}, blas) }
     |                ^~~~~~~~~~~~~~~~~~~~~~~~
leaves_lowered.distal:37:16: error: cannot substitute gemm: more than two operands; the loops must compute C(m, n) += alpha * A(m, k) * B(k, n)
  37 | schedule T15 { substitute({i, j, k}, gemm) }
     |                ^~~~~~~~~~~~~~~~~~~~~~~~~~~
leaves_lowered.distal:40:16: error: cannot substitute gemv: the operands or their indices are not those of gemv; the loops must compute y(m) += alpha * A(m, k) * x(k)
  40 | schedule T16 { substitute({i, k}, gemv) }
     |                ^~~~~~~~~~~~~~~~~~~~~~~~
leaves_lowered.distal:43:16: error: cannot substitute gemm: operands of different element types; the loops must compute C(m, n) += alpha * A(m, k) * B(k, n)
  43 | schedule T17 { substitute({i, j, k}, gemm) }
     |                ^~~~~~~~~~~~~~~~~~~~~~~~~~~
leaves_lowered.distal:46:15: error: cannot vectorize 'i': threads work inside it, on 'k'
  46 | schedule X2 { parallelize(i, cpu_vector); parallelize(k, cpu_thread, reduction) }
     |               ^~~~~~~~~~~~~~~~~~~~~~~~~~
leaves_lowered.distal:49:35: error: cannot parallelize 'k': the updates of a library call are not atomic
  49 | schedule X3 { reorder({k, i, j}); parallelize(k, cpu_thread, atomic); substitute({i, j}, ger) }
     |                                   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
