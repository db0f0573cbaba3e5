# Memory of GPUs has a limit of its own. What takes it is listed apart from what is on the host, and smaller pieces
# are tried.
# run: plan {file} --gpu-memory-limit 1M --memory-limit 10M
# status: 1
--- program
param n = 300, chunk = 300
machine M = gpu grid(2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x, y) -> M.gpu(x)
place B(x, y) -> M(x)
place C(x, y) -> M(y)
A(i, j) = B(i, k) * C(k, j)
schedule A {
  distribute(i, io, ii, M.gpu)
  split(k, ko, ki, chunk)
  reorder({ko, ii, j, ki})
  communicate({B, C}, ko)
}
--- stdout
gpu_memory_limit.distal on 2 ranks

A(i, j) = B(i, k) * C(k, j)
  54000000 flop; at most 1.7 MiB of memory and 1.4 MiB of GPU memory in a rank

                                       moved      moved      messages      home   buffers
  tensor  pattern    at  steps  busiest rank  all ranks  busiest rank   largest   largest
  A       local      io      1           0 B        0 B             0  360000 B       0 B
  B       local      ko      1           0 B        0 B             0  360000 B       0 B
  C       broadcast  ko      1      360000 B   720000 B             1  360000 B  720000 B
  A: the busiest rank copies 0 B to its GPU and 360000 B from it
  B: the busiest rank copies 360000 B to its GPU and 0 B from it
  C: the busiest rank copies 720000 B to its GPU and 0 B from it
--- stderr
distal: error: rank 0 needs 1.4 MiB of GPU memory, more than the limit of 1.0 MiB
distal: note: rank 0 while it computes A: A 360000 B in buffers; B 360000 B in buffers; C 720000 B in buffers; 16384 B for partial results of blocks
distal: note: with -p chunk=75, no rank would need more than 916384 B
