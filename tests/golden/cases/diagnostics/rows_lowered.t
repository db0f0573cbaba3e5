# run: explain {file}
# status: 2
--- program
# Each block says something that a workspace that lives in an iteration does not allow, found as leaves are made.
param n = 4
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
  parallelize(i, cpu_vector)
}

T2(i, l) = A(i, j, k) * C(j, l) * D(k, l)
schedule T2 {
  precompute(A(i, j, k) * D(k, l), {l}, {l}, w2)
  reorder({k, l})
  parallelize(k, cpu_thread, temporary)
}

T3(i, l) = A(i, j, k) * C(j, l) * D(k, l)
schedule T3 {
  precompute(A(i, j, k) * D(k, l), {l}, {lw}, w3)
  substitute({j, lw, k}, gemm)
}

T4(i, l) = A(i, j, k) * C(j, j) * D(k, l)
schedule T4 {
  precompute(A(i, j, k) * D(k, l), {l}, {lw}, w4)
  parallelize(j, cpu_thread, atomic)
  substitute(l, axpy)
}

T5(i, l) = A(i, j, k) * C(j, l) * D(k, l)
schedule T5 {
  precompute(A(i, j, k) * D(k, l), {l}, {lw}, w5)
  parallelize(j, cpu_thread, atomic)
  parallelize(l, cpu_vector)
}
--- stderr
rows_lowered.distal:15:3: error: cannot vectorize 'i': the workspace 'w1' is filled in each of its iterations
  15 |   parallelize(i, cpu_vector)
     |   ^~~~~~~~~~~~~~~~~~~~~~~~~~
rows_lowered.distal:22:3: error: cannot parallelize 'k': threads would have copies of 'w2' in each iteration that fills a workspace (parallelize a loop outside of it, or use atomic)
  22 |   parallelize(k, cpu_thread, temporary)
     |   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
rows_lowered.distal:28:3: error: cannot substitute gemm: 'j' is outside of the workspace that is filled in each of its iterations
  28 |   substitute({j, lw, k}, gemm)
     |   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
rows_lowered.distal:35:3: error: cannot substitute 'l': updates of a loop around it are atomic, those of a library call are not
  35 |   substitute(l, axpy)
     |   ^~~~~~~~~~~~~~~~~~~
rows_lowered.distal:42:3: error: cannot vectorize 'l': updates inside 'j' are atomic
  42 |   parallelize(l, cpu_vector)
     |   ^~~~~~~~~~~~~~~~~~~~~~~~~~
