# Blocks and threads of a GPU have no partial results in each iteration of loops around a row.
# run: check {file}
# status: 2
--- program
param n = 64
machine M = grid(2)
tensor A(n, n): f64
tensor B(n, n): f64
place A(i, j) -> M(i) in gpu
tensor T(n): f64
T(i) = exp(A(i, k)) * B(l, i)
schedule T {
  precompute(exp(A(i, k)), {}, {}, s)
  parallelize(k, gpu_thread, reduction)
}
tensor U(n): f64
U(i) = exp(A(j, k)) * B(k, i)
schedule U {
  precompute(exp(A(j, k)), {k}, {k}, w)
  parallelize(j, gpu_block, temporary)
}
--- stderr
gpu_partials.distal:10:3: error: cannot parallelize 'k' onto gpu_thread: on a GPU, there are no partial results of 's' in each iteration that fills a workspace (use atomic)
  10 |   parallelize(k, gpu_thread, reduction)
     |   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
