# run: explain {file}
# status: 2
--- program
# Each block says something that a workspace that lives in an iteration does not allow.
param n = 4
machine M = grid(2)
tensor A(n, n, n): f64
tensor C(n, n): f64
tensor D(n, n): f64
tensor T1(n, n): f64
tensor T2(n, n): f64
tensor T3(n, n): f64
tensor T4(n, n): f64
tensor T5(n, n): f64

T1(i, l) = A(i, j, k) * C(j, l) * D(k, l)
schedule T1 {
  precompute(A(i, j, k) * D(k, l), {l}, {l}, w1)
  reorder({k, j})
}

T2(i, l) = A(i, j, k) * C(j, l) * D(k, l)
schedule T2 {
  precompute(A(i, j, k) * D(k, l), {l}, {lw}, w2)
  distribute({l}, {lo}, {li}, M)
}

T3(i, l) = A(i, j, k) * C(j, l) * D(k, l)
schedule T3 {
  precompute(A(i, j, k) * D(k, l), {l}, {l}, w3)
  distribute(k)
}

T4(i, l) = A(i, j, k) * C(j, l) * D(k, l)
schedule T4 {
  precompute(A(i, j, k) * D(k, l), {l}, {l}, w4)
  communicate(D, k)
}

T5(i, l) = A(i, j, k) * C(j, l) * D(k, l)
schedule T5 {
  precompute(A(i, j, k) * D(k, l), {l}, {l}, w5)
  communicate(w5, i)
}
--- stderr
rows.distal:16:11: error: cannot reorder: 'k' cannot be outside of 'j', around the workspace 'w1': not all nests that fill and read it have 'k'
  16 |   reorder({k, j})
     |           ^~~~~~
rows.distal:22:14: error: cannot distribute: 'lo' cannot be outside of 'j', around the workspace 'w2': not all nests that fill and read it have 'lo'
  22 |   distribute({l}, {lo}, {li}, M)
     |              ^~~
rows.distal:28:14: error: cannot distribute: 'k' would be around the workspace 'w3', but not all nests that fill and read it have that loop
  28 |   distribute(k)
     |              ^
rows.distal:34:18: error: cannot communicate: 'k' would be around the workspace 'w4', but not all nests that fill and read it have that loop
  34 |   communicate(D, k)
     |                  ^
rows.distal:40:15: error: cannot communicate: 'w5' lives inside of an iteration, so nothing of it moves
  40 |   communicate(w5, i)
     |               ^~
