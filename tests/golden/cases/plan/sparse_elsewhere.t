# Entries that are used or computed elsewhere than at home move; how many there are is not known without them.
# run: plan {file}
--- program
machine M = grid(2)
tensor B(8, 8): f64, csr
tensor A(8): f64, {compressed}
place B(i, j) -> M(j)
place A(i) -> M(i)
A(i) = B(i, j)
schedule A { distribute({i}, {io}, {ii}, M) }
--- stdout
sparse_elsewhere.distal on 2 ranks

A(i) = B(i, j)
  at most 0 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries    entries     structure
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance  busiest rank
  B       gather   io      1             ?          ?             ?      0 B        ?        ?          ?             ?
  A       local    io      1           0 B        0 B             0      0 B      0 B        ?          ?           0 B
  The memory of B, A is not counted: what is stored is known once they are given or computed.
  What moves of B is known once its entries are given or computed.
