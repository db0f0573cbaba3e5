# The old entries are an operand, and those of the result are new.
# run: plan --in A=sparse:1:200 --in B=sparse:2:200 {file}
--- program
machine M = grid(3)
tensor A(37, 37): f64, csr
tensor B(37, 37): f64, csr
place A(i, j) -> M(i)
place B(i, j) -> M(j)
A(i, j) = 2 * A(i, j) - B(i, j)
--- stdout
sparse_update.distal on 3 ranks

A(i, j) = 2 * A(i, j) - B(i, j)
  at most 4880 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries    entries     structure
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance  busiest rank
  A       local    io      1           0 B        0 B             0      0 B      0 B        ?          ?           0 B
  B       gather   io      1         424 B     1072 B             2   1264 B   2760 B      196      1.224         344 B
  old_A   local    io      1           0 B        0 B             0   1012 B      0 B      187      1.203           0 B
  The memory of A is not counted: what is stored is known once it is given or computed.
  It is estimated that A gets 349 entries, 4188 B with their coordinates.
