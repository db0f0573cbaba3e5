# A limit that the program exceeds in any case: the sparse workspace of the default is tried first, and is gone in the end.
# run: plan {file} --memory-limit=1K
# status: 1
--- program
param n = 30, m = 20, l = 25, r = 4
tensor A(n, r, r): f64
tensor B(n, m, l): f64, csf
tensor C(m, r): f64
tensor D(l, r): f64
A(i, x, y) = B(i, j, k) * C(j, x) * D(k, y)
--- stdout
products_memory_sparse.distal on 1 rank

A(i, x, y) = B(i, j, k) * C(j, x) * D(k, y)
  at most 5280 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored
  A       local    -       1           0 B        0 B             0   3840 B      0 B        -
  B       local    -       1           0 B        0 B             0      0 B      0 B        ?
  C       local    -       1           0 B        0 B             0    640 B      0 B        -
  D       local    -       1           0 B        0 B             0    800 B      0 B        -
  The memory of B is not counted: what is stored is known once it is given or computed.
--- stderr
distal: error: rank 0 needs 5280 B of memory, more than the limit of 1024 B
distal: note: rank 0 while it computes A: A 3840 B at home; C 640 B at home; D 800 B at home
distal: note: less memory is needed if tensors are placed on more ranks, or are communicated in smaller pieces (split a loop and communicate inside it)
