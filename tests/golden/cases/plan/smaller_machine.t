# run: plan {file}
# Only the smaller of two machines is used: its processors are the first of the ranks that the larger one asks for.
--- program
machine M = grid(4)
machine N = grid(3)
tensor A(5): f64
tensor B(5): f64
place A(x) -> N(x)
A(i) = B(i)
--- stdout
smaller_machine.distal on 4 ranks

A(i) = B(i)
  0 flop; at most 32 B of memory in a rank

                                     moved      moved      messages     home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local    io      1           0 B        0 B             0     16 B      0 B
  B       local    io      1           0 B        0 B             0     16 B      0 B
