# What moves of a sparse tensor that the repetition assigns is not known of later rounds.
# run: plan --in A=sparse:1:9 {file}
--- program
param n = 8, none = 0
machine M = grid(2)
tensor A(n, n): f64, csr
tensor B(n, n): f64, csr
tensor y(n): f64
place A(i, j) -> M(i)
place B(i, j) -> M(j)
place y(i) -> M(i)
repeat 3 {
  B(i, j) = A(i, j)
  y(i) = B(i, j) * B(i, j)
}
repeat none { y(i) = A(i, j) }
--- stdout
plan_sparse.distal on 2 ranks

B(i, j) = A(i, j)
  each of 3 executions: at most 480 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries    entries     structure
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance  busiest rank
  A       gather   jo      1          24 B       32 B             1     88 B    296 B        8      1.000          24 B
  B       local    jo      1           0 B        0 B             0      0 B      0 B        ?          ?           0 B
  The memory of B is not counted: what is stored is known once it is given or computed.
  It is estimated that B gets 8 entries, 96 B with their coordinates.

y(i) = B(i, j) * B(i, j)
  each of 3 executions: at most 480 B of memory in a rank

                                            moved      moved      messages     home  buffers  entries    entries
  tensor  pattern         at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance
  B       local           jo      1           0 B        0 B             0      0 B      0 B        ?          ?
  y       reduce-scatter  jo      1          32 B       64 B             1     32 B     64 B        -          -
  The memory of B is not counted: what is stored is known once it is given or computed.

y(i) = A(i, j)
  not executed: at most 120 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries    entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance
  A       local    io      1           0 B        0 B             0     88 B      0 B        8      1.000
  y       local    io      1           0 B        0 B             0     32 B      0 B        -          -

all statements
  at most 480 B of memory in a rank
