# Entries that are divided evenly in each block of a 2 x 2 grid of nodes.
# run: plan --in B=random:1:0.2 {file}
--- program
machine L = node grid(2, 2), core grid(2)
tensor B(40, 30): f64, csr
tensor x(30): f64
tensor y(40): f64
place B(r, c) -> L.node(r, c), B(r, c) -> L.core(~fuse(r, c))
place x(c) -> L.node(0, c), x(c) -> L.core(c)
place y(r) -> L.node(r, 0), y(r) -> L.core(r)
y(i) = B(i, j) * x(j)
--- stdout
balanced_cells.distal on 8 ranks

y(i) = B(i, j) * x(j)
  at most 944 B of memory in a rank

                                         moved      moved      messages     home  buffers  entries    entries
  tensor  pattern  at      steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance
  B       local    ijpiio      1           0 B        0 B             0    520 B      0 B      255      1.129
  x       gather   ijpiio      1         120 B      656 B             2     64 B    168 B        -          -
  y       reduce   ijpiio      1          96 B      360 B             2     80 B    168 B        -          -
