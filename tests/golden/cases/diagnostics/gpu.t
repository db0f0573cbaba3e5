# What a statement on a GPU cannot have.
# run: check {file}
# status: 2
--- program
param n = 64
machine M = grid(2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor S(n, n): f64, {dense, compressed}
tensor P(n, n, n, n): f64
tensor Q(n, n, n, n): f64
place A(i, j) -> M(i) in gpu
place P(i, j, k, l) -> M(i) in gpu
A(i, j) = S(i, j)
tensor T1(n, n): f64
T1(i, j) = A(i, k) * B(k, j)
schedule T1 { parallelize(i, cpu_thread) }
tensor T4(n, n): f64
T4(i, j) = A(i, j)
schedule T4 { parallelize(i, gpu_thread); parallelize(j, gpu_block) }
P(i, j, k, l) = Q(i, j, k, l)
schedule P { parallelize(i, gpu_block); parallelize(j, gpu_block); parallelize(k, gpu_block); parallelize(l, gpu_block) }
tensor T5(n): f64
T5(i) = A(i, k) * B(k, i)
schedule T5 { substitute({k}, dot) }
tensor T6(n, n): f64
T6(i, j) = A(i, k) * B(k, j) * B(i, j)
schedule T6 { precompute(A(i, k) * B(k, j), {j}, {jw}, W) }
tensor T7(n, n): f64
T7(i, j) = A(i, k) * B(k, j) * B(i, j)
schedule T7 { precompute(A(i, k) * B(k, j), {j}, {jw}, V); parallelize(i, gpu_block) }
--- stderr
gpu.distal:10:11: error: 'S' is sparse, which is not supported in statements on a GPU yet
  10 | A(i, j) = S(i, j)
     |           ^~~~~~~
gpu.distal:13:15: error: cannot parallelize onto cpu_thread: the statement is executed on a GPU (gpu_block, gpu_warp or gpu_thread)
  13 | schedule T1 { parallelize(i, cpu_thread) }
     |               ^~~~~~~~~~~~~~~~~~~~~~~~~~
gpu.distal:16:43: error: cannot parallelize 'j': blocks of a GPU are outside of its warps, and these outside of threads (reorder puts it there)
  16 | schedule T4 { parallelize(i, gpu_thread); parallelize(j, gpu_block) }
     |                                           ^~~~~~~~~~~~~~~~~~~~~~~~~
gpu.distal:18:95: error: cannot parallelize 'l': too many loops onto gpu_block
  18 | schedule P { parallelize(i, gpu_block); parallelize(j, gpu_block); parallelize(k, gpu_block); parallelize(l, gpu_block) }
     |                                                                                               ^~~~~~~~~~~~~~~~~~~~~~~~~
gpu.distal:21:15: error: cannot substitute dot: on a GPU, gemm of matrices and a number is supported, and loops
  21 | schedule T5 { substitute({k}, dot) }
     |               ^~~~~~~~~~~~~~~~~~~~
gpu.distal:23:1: error: the workspace 'W' is filled in each iteration of the loops around it, which is not supported on a GPU yet
  23 | T6(i, j) = A(i, k) * B(k, j) * B(i, j)
     | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
gpu.distal:27:60: error: cannot parallelize 'ii' onto gpu_block: a workspace is filled in iterations of the loops around it, which is not supported on GPUs yet
  27 | schedule T7 { precompute(A(i, k) * B(k, j), {j}, {jw}, V); parallelize(i, gpu_block) }
     |                                                            ^~~~~~~~~~~~~~~~~~~~~~~~~
