# A diagonal in blocks of both modes, which processors compute that do not have it: each element is listed.
# run: plan {file}
--- program
machine M = grid(2, 2)
tensor A(16, 16): f64
place A(x, y) -> M(x, y)
A(i, i) = 2 * A(i, i)
A(i, i) += 2
--- stdout
diagonal_moved.distal on 4 ranks

A(i, i) = 2 * A(i, i)
  16 flop; at most 1536 B of memory in a rank

                                     moved      moved      messages     home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       reduce   io      1         128 B      128 B            16    512 B   1024 B

A(i, i) += 2
  16 flop; at most 1024 B of memory in a rank

                                     moved      moved      messages     home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       reduce   io      1          64 B       64 B             8    512 B    512 B

all statements
  32 flop; 192 B in 24 messages; at most 1536 B of memory in a rank
