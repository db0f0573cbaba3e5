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
T5(i) = A(i, k) * B(k, i) * B(i, i)
schedule T5 { substitute({k}, dot) }
tensor T6(n, n): f64
T6(i, j) = A(i, k) * B(k, j) * B(i, j)
schedule T6 { precompute(A(i, k) * B(k, j), {j}, {jw}, W); parallelize(i, gpu_thread) }
tensor T7(n, n): f64
T7(i, j) = A(i, k) * B(k, j) * B(i, j)
schedule T7 { precompute(A(i, k) * B(k, j), {j}, {jw}, V); parallelize(i, gpu_block); parallelize(jw, gpu_block) }
tensor T8(n): f64
T8(i) = exp(A(i, k)) * B(i, l)
schedule T8 { precompute(exp(A(i, k)), {}, {}, U); parallelize(i, gpu_thread); parallelize(l, gpu_thread, atomic) }
tensor T9(n, n): f64
T9(i, j) = A(i, k) * B(k, j)
schedule T9 { split(i, io, ii, 8); reorder({io, ii, j, k}); substitute({ii, j, k}, gemm); parallelize(io, gpu_block) }
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
gpu.distal:21:15: error: cannot substitute dot on a GPU: a factor of the product is no number; use 'loops'
  21 | schedule T5 { substitute({k}, dot) }
     |               ^~~~~~~~~~~~~~~~~~~~
gpu.distal:24:60: error: cannot parallelize 'ii' onto gpu_thread: on a GPU, the workspace 'W' is no scalar, and filled in each of its iterations (gpu_block gives each block one of its own)
  24 | schedule T6 { precompute(A(i, k) * B(k, j), {j}, {jw}, W); parallelize(i, gpu_thread) }
     |                                                            ^~~~~~~~~~~~~~~~~~~~~~~~~~
gpu.distal:27:87: error: cannot parallelize 'jw' onto gpu_block: on a GPU, the workspace 'V' is filled and read by one block, as iterations of 'ii' are shared onto gpu_block
  27 | schedule T7 { precompute(A(i, k) * B(k, j), {j}, {jw}, V); parallelize(i, gpu_block); parallelize(jw, gpu_block) }
     |                                                                                       ^~~~~~~~~~~~~~~~~~~~~~~~~~
gpu.distal:30:80: error: cannot parallelize 'l' onto gpu_thread: on a GPU, the workspace 'U' is filled and read by one thread, as iterations of 'ii' are shared onto gpu_thread
  30 | schedule T8 { precompute(exp(A(i, k)), {}, {}, U); parallelize(i, gpu_thread); parallelize(l, gpu_thread, atomic) }
     |                                                                                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
gpu.distal:33:91: error: cannot parallelize 'io' onto gpu_block: on a GPU, the library call inside of it is made by the host
  33 | schedule T9 { split(i, io, ii, 8); reorder({io, ii, j, k}); substitute({ii, j, k}, gemm); parallelize(io, gpu_block) }
     |                                                                                           ^~~~~~~~~~~~~~~~~~~~~~~~~~
