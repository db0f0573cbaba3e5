# Statements of a repetition have their buffers at the same time.
# run: run {file} --memory-limit=1M
# status: 1
--- program
param n = 40000
machine M = grid(2)
tensor x(n): f64
tensor y(n): f64
tensor u(n): f64
tensor v(n): f64
place x(i) -> M(0)
place y(i) -> M(1)
place u(i) -> M(0)
place v(i) -> M(1)
repeat 3 {
  y(i) = x(i)
  v(i) = u(i)
}
--- stderr
distal: error: rank 1 needs 1.2 MiB of memory, more than the limit of 1.0 MiB
distal: note: rank 1 while it computes y: x 320000 B in buffers; y 320000 B at home; v 320000 B at home; 320000 B in buffers of other statements of the repetition
distal: note: less memory is needed if tensors are placed on more ranks, or are communicated in smaller pieces (split a loop and communicate inside it)
