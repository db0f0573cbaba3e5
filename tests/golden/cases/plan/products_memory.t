# A limit that the workspace of the default does not fit into: the part of it for a row does.
# run: plan {file} --memory-limit=3400K
--- program
param n = 300
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
tensor D(n, n): f64
A(i, l) = B(i, j) * C(j, k) * D(k, l)
--- stdout
products_memory.distal on 1 rank

A(i, l) = B(i, j) * C(j, k) * D(k, l)
  108000000 flop; at most 2.7 MiB of memory in a rank

                                     moved      moved      messages      home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank   largest  largest
  A       local    -       1           0 B        0 B             0  720000 B      0 B
  B       local    -       1           0 B        0 B             0  720000 B      0 B
  C       local    -       1           0 B        0 B             0  720000 B      0 B
  D       local    -       1           0 B        0 B             0  720000 B      0 B
  W       row      i       0           0 B        0 B             0       0 B   2432 B
