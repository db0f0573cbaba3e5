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
schedule T0 { split(k, ko, ki) }
tensor T1(n, n): f64
T1(i, j) = B(i, k) * C(k, j)
schedule T1 { nonsense(k) }
tensor T2(n, n): f64
T2(i, j) = B(i, k) * C(k, j)
schedule T2 { tile(k, ko, ki, 4) }
tensor T4(n, n): f64
T4(i, j) = B(i, k) * C(k, j)
schedule T4 { reorder(3) }
tensor T5(n, n): f64
T5(i, j) = B(i, k) * C(k, j)
schedule T5 { reorder({k, k}) }
tensor T6(n, n): f64
T6(i, j) = B(i, k) * C(k, j)
schedule T6 { reorder({kx, i}) }
tensor T7(n, n): f64
T7(i, j) = B(i, k) * C(k, j)
schedule T7 { split(3, ko, ki, 4) }
tensor T8(n, n): f64
T8(i, j) = B(i, k) * C(k, j)
schedule T8 { split(k, 3, ki, 4) }
tensor T9(n, n): f64
T9(i, j) = B(i, k) * C(k, j)
schedule T9 { split(k, i, ki, 4) }
tensor T10(n, n): f64
T10(i, j) = B(i, k) * C(k, j)
schedule T10 { split(k, ko, ko, 4) }
tensor T11(n, n): f64
T11(i, j) = B(i, k) * C(k, j)
schedule T11 { split(k, ko, ki, q) }
tensor T12(n, n): f64
T12(i, j) = B(i, k) * C(k, j)
schedule T12 { split(k, ko, ki, {a}) }
tensor T13(n, n): f64
T13(i, j) = B(i, k) * C(k, j)
schedule T13 { split(k, ko, ki, 0) }
tensor T14(n, n): f64
T14(i, j) = B(i, k) * C(k, j)
schedule T14 { split(k, ko, ki, 4); split(k, a, b, 2) }
tensor T15(n, n): f64
T15(i, j) = B(i, k) * C(k, j)
schedule T15 { communicate(3, k) }
tensor T16(n, n): f64
T16(i, j) = B(i, k) * C(k, j)
schedule T16 { communicate(P, k) }
tensor T17(n, n): f64
T17(i, j) = B(i, k) * C(k, j)
schedule T17 { communicate(B, 3) }
tensor T18(n, n): f64
T18(i, j) = B(i, k) * C(k, j)
schedule T18 { communicate(B, k); communicate(B, i) }
tensor T19(n, n): f64
T19(i, j) = B(i, k) * C(k, j)
schedule T19 { parallelize(i, cpu_threads) }
tensor T20(n, n): f64
T20(i, j) = B(i, k) * C(k, j)
schedule T20 { parallelize(i, 3) }
tensor T21(n, n): f64
T21(i, j) = B(i, k) * C(k, j)
schedule T21 { parallelize(i, cpu_thread, sometimes) }
tensor T22(n, n): f64
T22(i, j) = B(i, k) * C(k, j)
schedule T22 { parallelize(i, gpu_block) }
tensor T23(n, n): f64
T23(i, j) = B(i, k) * C(k, j)
schedule T23 { substitute({i, j, k}, dgemm) }
tensor T24(n, n): f64
T24(i, j) = B(i, k) * C(k, j)
schedule T24 { precompute(B(i, k) * C(k, j), {i, j}, {i, j}, C) }
tensor T25(n, n): f64
T25(i, j) = B(i, k) * C(k, j)
schedule T25 { pos(i, p, B(i, k)) }
tensor T26(n, n): f64
T26(i, j) = B(i, k) * C(k, j)
schedule T26 { unroll(k, n) }
tensor T27(n, n): f64
T27(i, j) = B(i, k) * C(k, j)
schedule T27 { unroll(k, 0) }

--- stderr
command_arguments.distal:16:15: error: split takes 4 arguments, split(i, io, ii, s), not 3
  16 | schedule T0 { split(k, ko, ki) }
     |               ^~~~~~~~~~~~~~~~
command_arguments.distal:19:15: error: unknown command 'nonsense' (commands: split divide collapse fuse reorder distribute communicate rotate substitute parallelize precompute unroll pos)
  19 | schedule T1 { nonsense(k) }
     |               ^~~~~~~~
command_arguments.distal:22:15: error: unknown command 'tile' (commands: split divide collapse fuse reorder distribute communicate rotate substitute parallelize precompute unroll pos)
  22 | schedule T2 { tile(k, ko, ki, 4) }
     |               ^~~~
command_arguments.distal:25:23: error: cannot reorder: expected a name, or names in braces
  25 | schedule T4 { reorder(3) }
     |                       ^
command_arguments.distal:28:27: error: cannot reorder: 'k' appears twice in the list
  28 | schedule T5 { reorder({k, k}) }
     |                           ^
command_arguments.distal:31:24: error: cannot reorder: 'kx' is not a loop of this statement (loops: i j k)
  31 | schedule T6 { reorder({kx, i}) }
     |                        ^~
command_arguments.distal:34:21: error: cannot split: expected the name of a loop (loops: i j k)
  34 | schedule T7 { split(3, ko, ki, 4) }
     |                     ^
command_arguments.distal:37:24: error: cannot split: expected a name for a new loop
  37 | schedule T8 { split(k, 3, ki, 4) }
     |                        ^
command_arguments.distal:40:24: error: cannot split: 'i' is already a loop of this statement; choose another name for the new loop
  40 | schedule T9 { split(k, i, ki, 4) }
     |                        ^
command_arguments.distal:43:29: error: cannot split: 'ko' names two new loops
  43 | schedule T10 { split(k, ko, ko, 4) }
     |                             ^~
command_arguments.distal:46:33: error: cannot split: 'q' is not a param
  46 | schedule T11 { split(k, ko, ki, q) }
     |                                 ^
command_arguments.distal:49:33: error: cannot split: expected a number
  49 | schedule T12 { split(k, ko, ki, {a}) }
     |                                 ^~~
command_arguments.distal:52:33: error: cannot split: expected a number that is at least 1, not 0
  52 | schedule T13 { split(k, ko, ki, 0) }
     |                                 ^
command_arguments.distal:55:43: error: cannot split: 'k' is no longer a loop: it was split into 'ko' and 'ki' (loops: i j ko ki)
  55 | schedule T14 { split(k, ko, ki, 4); split(k, a, b, 2) }
     |                                           ^
command_arguments.distal:58:28: error: cannot communicate: expected a name, or names in braces
  58 | schedule T15 { communicate(3, k) }
     |                            ^
command_arguments.distal:61:28: error: cannot communicate: 'P' is not a tensor of this statement (tensors: T16 B C)
  61 | schedule T16 { communicate(P, k) }
     |                            ^
command_arguments.distal:64:31: error: cannot communicate: expected the name of a loop (loops: i j k)
  64 | schedule T17 { communicate(B, 3) }
     |                               ^
command_arguments.distal:67:47: error: cannot communicate: 'B' is already communicated at 'k'
  67 | schedule T18 { communicate(B, k); communicate(B, i) }
     |                                               ^
command_arguments.distal:70:31: error: cannot parallelize: unknown unit 'cpu_threads'; did you mean 'cpu_thread'?
  70 | schedule T19 { parallelize(i, cpu_threads) }
     |                               ^~~~~~~~~~~
command_arguments.distal:73:31: error: cannot parallelize: expected a unit (choices: cpu_thread cpu_vector gpu_block gpu_warp gpu_thread)
  73 | schedule T20 { parallelize(i, 3) }
     |                               ^
command_arguments.distal:76:43: error: cannot parallelize: unknown race strategy 'sometimes' (choices: none atomic reduction temporary)
  76 | schedule T21 { parallelize(i, cpu_thread, sometimes) }
     |                                           ^~~~~~~~~
command_arguments.distal:82:38: error: cannot substitute: unknown kernel 'dgemm'; did you mean 'gemm'?
  82 | schedule T23 { substitute({i, j, k}, dgemm) }
     |                                      ^~~~~
command_arguments.distal:85:62: error: cannot precompute: 'C' is already a tensor; choose another name for the workspace
  85 | schedule T24 { precompute(B(i, k) * C(k, j), {i, j}, {i, j}, C) }
     |                                                              ^
command_arguments.distal:88:26: error: cannot iterate over positions: 'B' stores every coordinate of 'i', whose positions are the coordinates; split or parallelize 'i' itself
  88 | schedule T25 { pos(i, p, B(i, k)) }
     |                          ^~~~~~~
command_arguments.distal:91:26: error: cannot unroll: the number of iterations must be a number from 1 to 65535, without params
  91 | schedule T26 { unroll(k, n) }
     |                          ^
command_arguments.distal:94:26: error: cannot unroll: expected a number that is at least 1, not 0
  94 | schedule T27 { unroll(k, 0) }
     |                          ^
