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
schedule T0 { distribute({i, j}, {io, jo}, {ii}, M) }
tensor T1(n, n): f64
T1(i, j) = B(i, k) * C(k, j)
schedule T1 { distribute({i}, {io}, {ii}, M) }
tensor T2(n, n): f64
T2(i, j) = B(i, k) * C(k, j)
schedule T2 { distribute({i, j}, {io, jo}, {ii, ji}, M.node) }
tensor T3(n, n): f64
T3(i, j) = B(i, k) * C(k, j)
schedule T3 { distribute({i}, {io}, {ii}, L.gpu) }
tensor T4(n, n): f64
T4(i, j) = B(i, k) * C(k, j)
schedule T4 { distribute({i}, {io}, {ii}, X) }
tensor T5(n, n): f64
T5(i, j) = B(i, k) * C(k, j)
schedule T5 { distribute({i}, {io}, {ii}, m) }
tensor T6(n, n): f64
T6(i, j) = B(i, k) * C(k, j)
schedule T6 { distribute({i}, {io}, {ii}, 3) }
tensor T7(n, n): f64
T7(i, j) = B(i, k) * C(k, j)
schedule T7 { distribute({i, j}, {io, jo}) }
tensor T8(n, n): f64
T8(i, j) = B(i, k) * C(k, j)
schedule T8 { distribute({i, j}, {io, jo}, {ii, ji}, B) }
tensor T9(n, n): f64
T9(i, j) = B(i, k) * C(k, j)
schedule T9 { distribute(i); distribute(i) }
tensor T10(n, n): f64
T10(i, j) = B(i, k) * C(k, j)
schedule T10 { distribute({i}, {io}, {ii}, L.node); distribute({j}, {jo}, {ji}, L.node) }
tensor T11(n, n): f64
T11(i, j) = P(i, k) * P(k, j)
schedule T11 { distribute({i, k}, {io, ko}, {ii, ki}, P) }
tensor T12(n, n): f64
T12(i, j) = P(i, j) + B(i, j)
schedule T12 { distribute({i}, {io}, {ii}, P) }
tensor T13(n, n): f64
T13(i, j) = Q(i, j)
schedule T13 { distribute({i}, {io}, {ii}, Q); distribute({j}, {jo}, {ji}, Q) }
tensor T14(n, n): f64
T14(i, j) = R(i, j)
schedule T14 { distribute({i}, {io}, {ii}, R) }
tensor T15(n, n): f64
T15(i, j) = P(i, j) * B(j, k)
schedule T15 { distribute({i, k}, {io, ko}, {ii, ki}, P) }
--- stderr
command_distribute.distal:16:44: error: cannot distribute: 1 name for 2 targets: each target becomes one distributed and one local loop
  16 | schedule T0 { distribute({i, j}, {io, jo}, {ii}, M) }
     |                                            ^~~~
command_distribute.distal:19:26: error: cannot distribute: 'M' has 2 dimensions, but the list has 1 target
  19 | schedule T1 { distribute({i}, {io}, {ii}, M) }
     |                          ^~~
command_distribute.distal:22:54: error: cannot distribute: the machine 'M' is flat, it has no level 'node'
  22 | schedule T2 { distribute({i, j}, {io, jo}, {ii, ji}, M.node) }
     |                                                      ^~~~~~
command_distribute.distal:25:43: error: cannot distribute: 'L' has no level 'gpu' (levels: node core)
  25 | schedule T3 { distribute({i}, {io}, {ii}, L.gpu) }
     |                                           ^~~~~
command_distribute.distal:28:43: error: cannot distribute: 'X' is neither a machine nor a tensor (names: M L N B C P Q R I T0 T1 T2 T3 T4 T5 T6 ...)
  28 | schedule T4 { distribute({i}, {io}, {ii}, X) }
     |                                           ^
command_distribute.distal:31:43: error: cannot distribute: 'm' is neither a machine nor a tensor (names: M L N B C P Q R I T0 T1 T2 T3 T4 T5 T6 ...)
  31 | schedule T5 { distribute({i}, {io}, {ii}, m) }
     |                                           ^
command_distribute.distal:34:43: error: cannot distribute: expected a machine, a level of it, or a tensor
  34 | schedule T6 { distribute({i}, {io}, {ii}, 3) }
     |                                           ^
command_distribute.distal:37:15: error: distribute takes 1 or 4 arguments, distribute({i, ...}, {io, ...}, {ii, ...}, M), not 2
  37 | schedule T7 { distribute({i, j}, {io, jo}) }
     |               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
command_distribute.distal:40:54: error: cannot distribute: 'B' has no placement; write 'place B(...) -> ...'
  40 | schedule T8 { distribute({i, j}, {io, jo}, {ii, ji}, B) }
     |                                                      ^
command_distribute.distal:43:41: error: cannot distribute: 'i' is already used by distribute(i)
  43 | schedule T9 { distribute(i); distribute(i) }
     |                                         ^
command_distribute.distal:46:81: error: cannot distribute: that dimension of 'L' is already used by distribute(io, L.node[0])
  46 | schedule T10 { distribute({i}, {io}, {ii}, L.node); distribute({j}, {jo}, {ji}, L.node) }
     |                                                                                 ^~~~~~
command_distribute.distal:49:55: error: cannot distribute: 'P' is accessed with different variables, so it does not say which loops to distribute; distribute onto the machine 'M' instead
  49 | schedule T11 { distribute({i, k}, {io, ko}, {ii, ki}, P) }
     |                                                       ^
command_distribute.distal:52:27: error: cannot distribute: the placement of 'P' partitions i and j: give each as a target
  52 | schedule T12 { distribute({i}, {io}, {ii}, P) }
     |                           ^~~
command_distribute.distal:55:60: error: cannot distribute: the placement of 'Q' does not partition 'j' (it partitions ii)
  55 | schedule T13 { distribute({i}, {io}, {ii}, Q); distribute({j}, {jo}, {ji}, Q) }
     |                                                            ^
command_distribute.distal:58:44: error: cannot distribute: the placement of 'R' partitions no mode
  58 | schedule T14 { distribute({i}, {io}, {ii}, R) }
     |                                            ^
command_distribute.distal:61:31: error: cannot distribute: the placement of 'P' does not partition 'k' (it partitions i and j)
  61 | schedule T15 { distribute({i, k}, {io, ko}, {ii, ki}, P) }
     |                               ^
