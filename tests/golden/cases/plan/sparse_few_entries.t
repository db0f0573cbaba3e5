# Of parts that entries balance, one may have nearly all coordinates; nothing is computed from as many of them.
# run: plan {file} --ranks 3 --in B=sparse:1:2
--- program
machine M = grid(3)
tensor A: i32
tensor B(4611686018427387904): i32, {compressed}
place B(x) -> M(~x)
A = B(i)
--- stdout
sparse_few_entries.distal on 3 ranks

A = B(i)
  at most 36 B of memory in a rank

                                        moved      moved      messages     home  buffers  entries    entries
  tensor  pattern     at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance
  A       all-reduce  io      1           4 B        8 B             1      4 B      4 B        -          -
  B       local       io      1           0 B        0 B             0     28 B      0 B        2      1.500
