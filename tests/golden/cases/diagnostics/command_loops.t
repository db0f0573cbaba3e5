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
schedule T0 { collapse(i, k, f) }
tensor T1(n, n): f64
T1(i, j) = B(i, k) * C(k, j)
schedule T1 { collapse(i, i, f) }
tensor T2(n, n): f64
T2(i, j) = B(i, k) * C(k, j)
schedule T2 { distribute(i); split(i, io, ii, 2) }
tensor T3(n, n): f64
T3(i, j) = B(i, k) * C(k, j)
schedule T3 { parallelize(i, cpu_thread); split(i, io, ii, 2) }
tensor T4(n, n): f64
T4(i, j) = B(i, k) * C(k, j)
schedule T4 { unroll(k, 2); unroll(k, 3) }
tensor T5(n, n): f64
T5(i, j) = B(i, k) * C(k, j)
schedule T5 { parallelize(k, cpu_thread) }
tensor T6(n, n): f64
T6(i, j) = B(i, k) * C(k, j)
schedule T6 { parallelize(k, cpu_vector); unroll(k, 2) }
tensor T7(n, n): f64
T7(i, j) = B(i, k) * C(k, j)
schedule T7 { rotate(i, {k}, r) }
tensor T8(n, n): f64
T8(i, j) = B(i, k) * C(k, j)
schedule T8 { rotate(k, {k}, r) }
tensor T9(n, n): f64
T9(i, j) = B(i, k) * C(k, j)
schedule T9 { distribute(k); rotate(k, {i}, r) }
tensor T10(n, n): f64
T10(i, j) = B(i, k) * C(k, j)
schedule T10 { communicate(B, k); split(k, ko, ki, 2) }
tensor T11(n, n): f64
T11(i, j) = B(i, k) * C(k, j)
schedule T11 { parallelize(i, cpu_thread); parallelize(j, cpu_thread) }
tensor T12(n, n): f64
T12(i, j) = B(i, k) * C(k, j)
schedule T12 { parallelize(i, cpu_thread); communicate(B, k) }
tensor T13(n, n): f64
T13(i, j) = B(i, k) * C(k, j)
schedule T13 { parallelize(i, cpu_thread); distribute(j) }
tensor T14(n, n): f64
T14(i, j) = B(i, k) * C(k, j)
schedule T14 { substitute({j, k}, gemv); reorder({k, i}) }
tensor T15(n): f64
T15(i) = B(i, k) + C(i, j) * P(j, i)
schedule T15 { collapse(i, k, f) }
tensor T16(n): f64
T16(i) = B(i, i) + C(i, j)
schedule T16 { communicate(B, j) }
tensor T17(n): f64
T17(i) = P(i, i) + B(i, j)
schedule T17 { reorder({j, i}); rotate(i, {j}, r) }
--- stderr
command_loops.distal:16:27: error: cannot collapse: 'k' is not directly inside of 'i' (loops: i j k); reorder first
  16 | schedule T0 { collapse(i, k, f) }
     |                           ^
command_loops.distal:19:27: error: cannot collapse: 'i' and 'i' are the same loop; expected two
  19 | schedule T1 { collapse(i, i, f) }
     |                           ^
command_loops.distal:22:36: error: cannot split: 'i' is used by distribute(i); apply split before that
  22 | schedule T2 { distribute(i); split(i, io, ii, 2) }
     |                                    ^
command_loops.distal:25:49: error: cannot split: 'i' is used by parallelize(i, cpu_thread); apply split before that
  25 | schedule T3 { parallelize(i, cpu_thread); split(i, io, ii, 2) }
     |                                                 ^
command_loops.distal:28:36: error: cannot unroll: 'k' is already used by unroll(k, 2)
  28 | schedule T4 { unroll(k, 2); unroll(k, 3) }
     |                                    ^
command_loops.distal:31:27: error: cannot parallelize: threads would race: iterations of 'k' add to the same elements of 'T5'; give a race strategy (atomic, reduction or temporary)
  31 | schedule T5 { parallelize(k, cpu_thread) }
     |                           ^
command_loops.distal:34:50: error: cannot unroll: 'k' is already used by parallelize(k, cpu_vector)
  34 | schedule T6 { parallelize(k, cpu_vector); unroll(k, 2) }
     |                                                  ^
command_loops.distal:37:25: error: cannot rotate: 'k' must be a loop outside of 'i' (loops: i j k); reorder first
  37 | schedule T7 { rotate(i, {k}, r) }
     |                         ^~~
command_loops.distal:40:25: error: cannot rotate: 'k' cannot be rotated by itself
  40 | schedule T8 { rotate(k, {k}, r) }
     |                         ^~~
command_loops.distal:43:37: error: cannot rotate: 'k' is used by distribute(k); apply rotate before that
  43 | schedule T9 { distribute(k); rotate(k, {i}, r) }
     |                                     ^
command_loops.distal:46:41: error: cannot split: 'k' is used by communicate(B, k); apply split before that
  46 | schedule T10 { communicate(B, k); split(k, ko, ki, 2) }
     |                                         ^
command_loops.distal:49:44: error: cannot parallelize: 'i' and 'j', one inside of the other, both go onto threads; collapse them to divide both among the threads
  49 | schedule T11 { parallelize(i, cpu_thread); parallelize(j, cpu_thread) }
     |                                            ^~~~~~~~~~~~~~~~~~~~~~~~~~
command_loops.distal:52:44: error: cannot communicate: tensors are communicated at 'k', which is inside of the parallel loop 'i'
  52 | schedule T12 { parallelize(i, cpu_thread); communicate(B, k) }
     |                                            ^~~~~~~~~~~~~~~~~
command_loops.distal:55:44: error: cannot distribute: the distributed loop 'j' is inside of the parallel loop 'i'
  55 | schedule T13 { parallelize(i, cpu_thread); distribute(j) }
     |                                            ^~~~~~~~~~~~~
command_loops.distal:58:42: error: cannot reorder: the loops of substitute({j, k}, gemv) must be innermost, but 'i' is inside of them (loops: k j i)
  58 | schedule T14 { substitute({j, k}, gemv); reorder({k, i}) }
     |                                          ^~~~~~~~~~~~~~~
command_loops.distal:61:28: error: cannot collapse: a term of this statement has 'i' without 'k' (loops: i j); collapse loops that every term has together
  61 | schedule T15 { collapse(i, k, f) }
     |                            ^
command_loops.distal:64:28: error: cannot communicate: 'B' is not accessed under the loop 'j'
  64 | schedule T16 { communicate(B, j) }
     |                            ^
command_loops.distal:67:43: error: cannot rotate: a term of this statement has 'i' without 'j' (loops: i); rotate by loops that every term with 'i' has
  67 | schedule T17 { reorder({j, i}); rotate(i, {j}, r) }
     |                                           ^~~
