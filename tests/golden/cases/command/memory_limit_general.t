# Nothing in the program can be changed from outside.
# run: plan {file} --memory-limit 15M
# status: 1
--- program
tensor A(1000, 1000): f64
tensor B(1000, 1000): f64
A(i, j) = B(j, i)
--- stdout
memory_limit_general.distal on 1 rank

A(i, j) = B(j, i)
  0 flop; at most 15.3 MiB of memory in a rank

                                     moved      moved      messages     home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local    -       1           0 B        0 B             0  7.6 MiB      0 B
  B       local    -       1           0 B        0 B             0  7.6 MiB      0 B
--- stderr
distal: error: rank 0 needs 15.3 MiB of memory, more than the limit of 15.0 MiB
distal: note: rank 0 while it computes A: A 7.6 MiB at home; B 7.6 MiB at home
distal: note: less memory is needed if tensors are placed on more ranks, or are communicated in smaller pieces (split a loop and communicate inside it)
