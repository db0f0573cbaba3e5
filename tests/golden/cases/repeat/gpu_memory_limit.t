# Statements of a repetition have their buffers in memory of the GPU at the same time.
# run: plan {file} --gpu-memory-limit 1K
# status: 1
--- program
param n = 40
machine M = gpu grid(2)
tensor x(n): f64
tensor y(n): f64
tensor B(n, n): f64
place x(i) -> M.gpu(i)
place y(i) -> M.gpu(i)
place B(i, j) -> M(i)
repeat 3 {
  y(i) = B(i, j) * x(j)
  x(i) = y(i) * 2 + B(j, i)
}
--- stdout
gpu_memory_limit.distal on 2 ranks

y(i) = B(i, j) * x(j)
  each of 3 executions: 3200 flop; at most 13760 B of memory and 46528 B of GPU memory in a rank

                                        moved      moved      messages     home  buffers
  tensor  pattern     at  steps  busiest rank  all ranks  busiest rank  largest  largest
  x       all-gather  io      1         160 B      320 B             1    160 B    320 B
  y       local       io      1           0 B        0 B             0    160 B      0 B
  B       local       io      1           0 B        0 B             0   6400 B      0 B
  x: the busiest rank copies 320 B to its GPU and 0 B from it
  y: the busiest rank copies 0 B to its GPU and 160 B from it
  B: the busiest rank copies 6400 B to its GPU and 0 B from it

x(i) = y(i) * 2 + B(j, i)
  each of 3 executions: 1640 flop; at most 13760 B of memory and 46528 B of GPU memory in a rank

                                      moved      moved      messages     home  buffers
  tensor  pattern   at  steps  busiest rank  all ranks  busiest rank  largest  largest
  x       local     io      1           0 B        0 B             0    160 B    320 B
  y       local     io      1           0 B        0 B             0    160 B      0 B
  B       exchange  io      1        3200 B     6400 B             1   6400 B   6400 B
  x: the busiest rank copies 0 B to its GPU and 320 B from it
  y: the busiest rank copies 160 B to its GPU and 0 B from it
  B: the busiest rank copies 6400 B to its GPU and 0 B from it

all statements
  14520 flop; 20160 B in 12 messages; at most 13760 B of memory and 46528 B of GPU memory in a rank
--- stderr
distal: error: rank 0 needs 46528 B of GPU memory, more than the limit of 1024 B
distal: note: rank 0 while it computes y: x 320 B in buffers; y 160 B in buffers; B 6400 B in buffers; 16384 B for partial results of blocks; 23264 B in buffers of other statements of the repetition
distal: note: less memory is needed if tensors are placed on more ranks, or are communicated in smaller pieces (split a loop and communicate inside it)
