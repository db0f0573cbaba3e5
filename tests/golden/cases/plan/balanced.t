# Parts that entries balance: rows by their entries, rows with entries, and entries, which cut rows.
# run: plan --in B=random:3:0.2 --in C=random:3:0.2 --in D=random:3:0.2 {file}
--- program
machine M = grid(3)
tensor B(20, 30): f64, csr; tensor C(20, 30): f64, csr; tensor D(20, 30): f64, csr
tensor x(30): f64; tensor y(20): f64; tensor u(20): f64; tensor v(20): f64
place B(r, c) -> M(weighted(r))
place C(r, c) -> M(~r)
place D(r, c) -> M(~fuse(r, c))
place x(c) -> M(c)
place y(r) -> M(weighted(r, B))
place u(r) -> M(r)
place v(r) -> M(r)
y(i) = B(i, j) * x(j)
u(i) = C(i, j) * x(j)
v(i) = D(i, j) * x(j)
--- stdout
balanced.distal on 3 ranks

y(i) = B(i, j) * x(j)
  at most 2488 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries    entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance
  B       local    io      1           0 B        0 B             0    604 B      0 B      131      1.031
  x       gather   io      1         136 B      384 B             2     80 B    440 B        -          -
  y       local    io      1           0 B        0 B             0     56 B      0 B        -          -

u(i) = C(i, j) * x(j)
  at most 2488 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries    entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance
  C       local    io      1           0 B        0 B             0    652 B      0 B      131      1.122
  x       gather   io      1         136 B      376 B             2     80 B    440 B        -          -
  u       local    io      1           0 B        0 B             0     56 B      0 B        -          -

v(i) = D(i, j) * x(j)
  at most 2544 B of memory in a rank

                                       moved      moved      messages     home  buffers  entries    entries
  tensor  pattern  at    steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance
  D       local    ijpo      1           0 B        0 B             0    600 B      0 B      131      1.008
  x       gather   ijpo      1         144 B      392 B             2     80 B    440 B        -          -
  v       reduce   ijpo      1           8 B       16 B             1     56 B     64 B        -          -

all statements
  1168 B in 20 messages; at most 2544 B of memory in a rank
