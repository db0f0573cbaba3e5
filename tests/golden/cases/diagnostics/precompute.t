# run: plan {file}
# status: 2
--- program
# Each block says something that precompute refuses.
param n = 4

machine M = grid(2)

tensor P(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
tensor b(n): f64
tensor T1(n, n): f64
tensor T2(n, n): f64
tensor T3(n, n): f64
tensor T4(n, n): f64
tensor T5(n, n): f64
tensor T6(n, n): f64
tensor T7(n, n): f64
tensor T8(n, n): f64
tensor T9(n, n): f64
tensor T10(n, n): f64
tensor T15(n, n): f64
tensor T16(n, n): f64
tensor T17(n, n): f64
tensor T18(n, n): f64
tensor T19(n, n): f64
tensor T20(n, n): f64
tensor T21(n, n): f64
tensor j(n): i64

T1(i, j) = B(i, k) * C(k, j)
schedule T1 { precompute(B(i, x) * C(x, j), {i, j}, {i, j}, W) }

T2(i, j) = B(i, k) * C(k, j)
schedule T2 { precompute(B(i, k) * P(k, j), {i, j}, {i, j}, W) }

T3(i, j) = B(i, k) * C(k, j)
schedule T3 { precompute(B(i, k) * C(k, j), {i, l}, {i, l}, W) }

T4(i, j) = B(i, k) * C(k, j)
schedule T4 { precompute(B(i, k) * C(k, j), {i, j}, {i}, W) }

T5(i, j) = B(i, k) * C(k, j)
schedule T5 { precompute(B(i, k) * C(k, j), {i, j}, {j, iw}, W) }

T6(i, j) = B(i, k) * C(k, j)
schedule T6 { precompute(B(i, k) * C(k, j), {i, i}, {i, j}, W) }

T7(i, j) = B(i, k) * C(k, j)
schedule T7 { precompute(B(i, k) * C(k, j), {i, j}, {x, x}, W) }

T8(i, j) = B(i, k) * C(k, j)
schedule T8 { precompute(B(i, k) * C(k, j), {i, j}, {i, j}, P) }

T9(i, j) = B(i, k) * C(k, j)
schedule T9 { precompute(B(i, k) * C(k, j), {i, j}, {i, j}, M) }

T10(i, j) = B(i, k) * C(k, j)
schedule T10 { precompute(B(i, k) * C(k, j), {i, j}, {i, j}, 2 * 3) }

T15(i, j) = B(i, k) * b(j) + b(i)
schedule T15 { precompute(B(i, k) * b(j) + b(i), {i, j, k}, {i, j, k}, W) }

T16(i, j) = B(i, k) * C(k, j)
schedule T16 {
  split(k, ko, ki, 2)
  precompute(B(i, k) * C(k, j), {i, j}, {i, j}, W)
}

T17(i, j) = B(i, k) * C(k, j)
schedule T17 {
  reorder({j, i})
  precompute(B(i, k) * C(k, j), {i, j}, {i, j}, W)
}

T18(i, j) = B(i, k) * C(k, j)
schedule T18 {
  precompute(B(i, k) * C(k, j), {i, j}, {i, j}, W1)
  precompute(C(k, j), {k, j}, {k, j}, W1)
}

T19(i, j) = B(i, k) * C(k, j)
schedule T19 { precompute(B(i, k) * C(k, j), M, {i, j}, W) }

T20(i, j) = B(i, k) * C(k, j)
schedule T20 {
  precompute(B(i, k) * C(k, j), {i, j}, {x, y}, W2)
  communicate(W, x)
  substitute({x, y}, gemm)
}

T21(i, j) = B(i, k) * C(k, j)
schedule T21 { precompute({i, j}, {i, k}, {i, k}, W) }

T2(i, j) = (B(i, k) + P(i, k)) * b(j)
schedule T2 { precompute(B(i, k), {i}, {i}, W) }
--- stderr
precompute.distal:30:31: error: cannot precompute: 'x' is not a variable of this statement (variables: i j k)
  30 | schedule T1 { precompute(B(i, x) * C(x, j), {i, j}, {i, j}, W) }
     |                               ^
precompute.distal:33:26: error: cannot precompute: the right side has no such part (a whole operand, or some of the factors of a product)
  33 | schedule T2 { precompute(B(i, k) * P(k, j), {i, j}, {i, j}, W) }
     |                          ^~~~~~~~~~~~~~~~~
precompute.distal:36:49: error: cannot precompute: the expression has no variable 'l'
  36 | schedule T3 { precompute(B(i, k) * C(k, j), {i, l}, {i, l}, W) }
     |                                                 ^
precompute.distal:39:53: error: cannot precompute: 1 name for 2 variables of the workspace
  39 | schedule T4 { precompute(B(i, k) * C(k, j), {i, j}, {i}, W) }
     |                                                     ^~~
precompute.distal:42:54: error: cannot precompute: 'j' is another variable of this statement: write 'i' again, or a new name
  42 | schedule T5 { precompute(B(i, k) * C(k, j), {i, j}, {j, iw}, W) }
     |                                                      ^
precompute.distal:45:49: error: cannot precompute: 'i' appears twice in the list
  45 | schedule T6 { precompute(B(i, k) * C(k, j), {i, i}, {i, j}, W) }
     |                                                 ^
precompute.distal:48:57: error: cannot precompute: 'x' appears twice in the list
  48 | schedule T7 { precompute(B(i, k) * C(k, j), {i, j}, {x, x}, W) }
     |                                                         ^
precompute.distal:51:61: error: cannot precompute: 'P' is already a tensor; choose another name for the workspace
  51 | schedule T8 { precompute(B(i, k) * C(k, j), {i, j}, {i, j}, P) }
     |                                                             ^
precompute.distal:54:61: error: cannot precompute: 'M' is already a machine; choose another name for the workspace
  54 | schedule T9 { precompute(B(i, k) * C(k, j), {i, j}, {i, j}, M) }
     |                                                             ^
precompute.distal:57:62: error: cannot precompute: expected a name for the workspace
  57 | schedule T10 { precompute(B(i, k) * C(k, j), {i, j}, {i, j}, 2 * 3) }
     |                                                              ^~~~~
precompute.distal:60:27: error: cannot precompute: some of its terms are summed over 'k' and others are not: precompute them one by one
  60 | schedule T15 { precompute(B(i, k) * b(j) + b(i), {i, j, k}, {i, j, k}, W) }
     |                           ^~~~~~~~~~~~~~~~~~~~~
precompute.distal:65:3: error: cannot precompute: split(k, ko, ki, 2) was applied before; precompute comes first in a schedule
  65 |   precompute(B(i, k) * C(k, j), {i, j}, {i, j}, W)
     |   ^~~~~~~~~~
precompute.distal:71:3: error: cannot precompute: 'i' was reordered before; precompute comes first in a schedule
  71 |   precompute(B(i, k) * C(k, j), {i, j}, {i, j}, W)
     |   ^~~~~~~~~~
precompute.distal:77:39: error: cannot precompute: 'W1' is already a workspace; choose another name for the workspace
  77 |   precompute(C(k, j), {k, j}, {k, j}, W1)
     |                                       ^~
precompute.distal:81:46: error: cannot precompute: the expression has no variable 'M'
  81 | schedule T19 { precompute(B(i, k) * C(k, j), M, {i, j}, W) }
     |                                              ^
precompute.distal:86:15: error: cannot communicate: 'W' is not a tensor of this statement (tensors: T20 B C W2)
  86 |   communicate(W, x)
     |               ^
precompute.distal:91:27: error: cannot precompute: expected a tensor expression
  91 | schedule T21 { precompute({i, j}, {i, k}, {i, k}, W) }
     |                           ^~~~~~
precompute.distal:94:26: error: cannot precompute: the addends of 'W(i) + P(i, k)' would be summed over different variables: precompute the whole sum
  94 | schedule T2 { precompute(B(i, k), {i}, {i}, W) }
     |                          ^~~~~~~
