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
tensor T11(n, n): f64
tensor T12(n, n): f64
tensor T13(n, n): f64
tensor T14(n, n): f64
tensor T15(n, n): f64
tensor T16(n, n): f64
tensor T17(n, n): f64
tensor T18(n, n): f64
tensor T19(n, n): f64
tensor T20(n, n): f64
tensor T21(n, n): f64
tensor J(n, n): i64
tensor K(n, n): i64
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

T11(i, j) = B(i, k) * C(k, j)
schedule T11 { precompute(B(i, k) * C(k, j), {i}, {i}, W) }

T12(i, j) = B(i, k) * C(k, j)
schedule T12 { precompute(B(i, k), {i}, {i}, W) }

T13(i, j) = sqrt(B(i, k)) * b(j)
schedule T13 { precompute(B(i, k), {i}, {i}, W) }

T14(i, j) = b(i) / B(i, k) * b(j)
schedule T14 { precompute(B(i, k), {i}, {i}, W) }

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

J(i, j) = K(i, k) / j(i) * j(j)
schedule J { precompute(K(i, k), {i}, {i}, W) }

T2(i, j) = (B(i, k) + P(i, k)) * b(j)
schedule T2 { precompute(B(i, k), {i}, {i}, W) }
--- stderr
precompute.distal:36:31: error: cannot precompute: 'x' is not a variable of this statement (variables: i j k)
  36 | schedule T1 { precompute(B(i, x) * C(x, j), {i, j}, {i, j}, W) }
     |                               ^
precompute.distal:39:26: error: cannot precompute: the right side has no such part (a whole operand, or some of the factors of a product)
  39 | schedule T2 { precompute(B(i, k) * P(k, j), {i, j}, {i, j}, W) }
     |                          ^~~~~~~~~~~~~~~~~
precompute.distal:42:49: error: cannot precompute: the expression has no variable 'l'
  42 | schedule T3 { precompute(B(i, k) * C(k, j), {i, l}, {i, l}, W) }
     |                                                 ^
precompute.distal:45:53: error: cannot precompute: 1 name for 2 variables of the workspace
  45 | schedule T4 { precompute(B(i, k) * C(k, j), {i, j}, {i}, W) }
     |                                                     ^~~
precompute.distal:48:54: error: cannot precompute: 'j' is another variable of this statement: write 'i' again, or a new name
  48 | schedule T5 { precompute(B(i, k) * C(k, j), {i, j}, {j, iw}, W) }
     |                                                      ^
precompute.distal:51:49: error: cannot precompute: 'i' appears twice in the list
  51 | schedule T6 { precompute(B(i, k) * C(k, j), {i, i}, {i, j}, W) }
     |                                                 ^
precompute.distal:54:57: error: cannot precompute: 'x' appears twice in the list
  54 | schedule T7 { precompute(B(i, k) * C(k, j), {i, j}, {x, x}, W) }
     |                                                         ^
precompute.distal:57:61: error: cannot precompute: 'P' is already a tensor; choose another name for the workspace
  57 | schedule T8 { precompute(B(i, k) * C(k, j), {i, j}, {i, j}, P) }
     |                                                             ^
precompute.distal:60:61: error: cannot precompute: 'M' is already a machine; choose another name for the workspace
  60 | schedule T9 { precompute(B(i, k) * C(k, j), {i, j}, {i, j}, M) }
     |                                                             ^
precompute.distal:63:62: error: cannot precompute: expected a name for the workspace
  63 | schedule T10 { precompute(B(i, k) * C(k, j), {i, j}, {i, j}, 2 * 3) }
     |                                                              ^~~~~
precompute.distal:66:27: error: cannot precompute: 'j' is on the left side, so it has to index the workspace: add it to both lists
  66 | schedule T11 { precompute(B(i, k) * C(k, j), {i}, {i}, W) }
     |                           ^~~~~~~~~~~~~~~~~
precompute.distal:69:27: error: cannot precompute: other factors have 'k' as well, so it cannot be summed ahead: add it to both lists
  69 | schedule T12 { precompute(B(i, k), {i}, {i}, W) }
     |                           ^~~~~~~
precompute.distal:72:27: error: cannot precompute: 'k' is summed around a function or a division that this is a part of, so it cannot be summed ahead: add it to both lists
  72 | schedule T13 { precompute(B(i, k), {i}, {i}, W) }
     |                           ^~~~~~~
precompute.distal:75:27: error: cannot precompute: 'k' is summed around a function or a division that this is a part of, so it cannot be summed ahead: add it to both lists
  75 | schedule T14 { precompute(B(i, k), {i}, {i}, W) }
     |                           ^~~~~~~
precompute.distal:78:27: error: cannot precompute: some of its terms are summed over 'k' and others are not: precompute them one by one
  78 | schedule T15 { precompute(B(i, k) * b(j) + b(i), {i, j, k}, {i, j, k}, W) }
     |                           ^~~~~~~~~~~~~~~~~~~~~
precompute.distal:83:3: error: cannot precompute: split(k, ko, ki, 2) was applied before; precompute comes first in a schedule
  83 |   precompute(B(i, k) * C(k, j), {i, j}, {i, j}, W)
     |   ^~~~~~~~~~
precompute.distal:89:3: error: cannot precompute: 'i' was reordered before; precompute comes first in a schedule
  89 |   precompute(B(i, k) * C(k, j), {i, j}, {i, j}, W)
     |   ^~~~~~~~~~
precompute.distal:95:39: error: cannot precompute: 'W1' is already a workspace; choose another name for the workspace
  95 |   precompute(C(k, j), {k, j}, {k, j}, W1)
     |                                       ^~
precompute.distal:99:46: error: cannot precompute: the expression has no variable 'M'
  99 | schedule T19 { precompute(B(i, k) * C(k, j), M, {i, j}, W) }
     |                                              ^
precompute.distal:104:15: error: cannot communicate: 'W' is not a tensor of this statement (tensors: T20 B C W2)
 104 |   communicate(W, x)
     |               ^
precompute.distal:109:27: error: cannot precompute: expected a tensor expression
 109 | schedule T21 { precompute({i, j}, {i, k}, {i, k}, W) }
     |                           ^~~~~~
precompute.distal:112:25: error: cannot precompute: 'k' is summed around a function or a division that this is a part of, so it cannot be summed ahead: add it to both lists
 112 | schedule J { precompute(K(i, k), {i}, {i}, W) }
     |                         ^~~~~~~
precompute.distal:115:26: error: cannot precompute: the addends of 'W(i) + P(i, k)' would be summed over different variables: precompute the whole sum
 115 | schedule T2 { precompute(B(i, k), {i}, {i}, W) }
     |                          ^~~~~~~
