# Levels that entries balance inside of each other: whole rows to nodes, entries of these to cores.
# run: plan --in B=random:3:0.2 --in C=random:3:0.2 {file}
--- program
machine L = node grid(2), core grid(3)
tensor B(20, 30): f64, csr; tensor C(20, 30): f64, csr
tensor x(30): f64; tensor y(20): f64; tensor z(20): f64
place B(r, c) -> L.node(weighted(r)), B(r, c) -> L.core(~fuse(r, c))
place C(r, c) -> L.node(r), C(r, c) -> L.core(weighted(r))
place x(c) -> L.node(c), x(c) -> L.core(c)
place y(r) -> L.node(r), y(r) -> L.core(r)
place z(r) -> L.node(r), z(r) -> L.core(weighted(r, C))
y(i) = B(i, j) * x(j)
z(i) = C(i, j) * x(j)
--- stdout
balanced_inside.distal on 6 ranks

y(i) = B(i, j) * x(j)
  at most 1124 B of memory in a rank

                                        moved      moved      messages     home  buffers  entries    entries
  tensor  pattern  at     steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance
  B       local    ijpio      1           0 B        0 B             0    312 B      0 B      131      1.008
  x       gather   ijpio      1         144 B      720 B             5     40 B    424 B        -          -
  y       reduce   ijpio      1          16 B       48 B             1     32 B     40 B        -          -

z(i) = C(i, j) * x(j)
  at most 1064 B of memory in a rank

                                      moved      moved      messages     home  buffers  entries    entries
  tensor  pattern  at   steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance
  C       local    iio      1           0 B        0 B             0    320 B      0 B      131      1.099
  x       gather   iio      1         144 B      712 B             5     40 B    368 B        -          -
  z       local    iio      1           0 B        0 B             0     32 B      0 B        -          -

all statements
  1480 B in 64 messages; at most 1124 B of memory in a rank
