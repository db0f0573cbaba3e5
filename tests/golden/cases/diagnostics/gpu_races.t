# Races of threads of a GPU.
# run: check {file}
# status: 2
--- program
param n = 64
machine M = grid(2)
tensor A(n, n): f64
tensor B(n, n): f64
place A(i, j) -> M(i) in gpu
tensor T2(n): f64
T2(i) = A(i, k) * B(k, i)
schedule T2 { parallelize(k, gpu_thread) }
--- stderr
gpu_races.distal:8:27: error: cannot parallelize: threads would race: iterations of 'k' add to the same elements of 'T2'; give a race strategy (atomic, reduction or temporary)
   8 | schedule T2 { parallelize(k, gpu_thread) }
     |                           ^
