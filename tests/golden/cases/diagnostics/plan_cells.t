# A rank iterates over the entries of one block in the order in which it stores them.
# run: plan --ranks 2 --in B=random:1:0.2 {file}
# status: 2
--- program
machine L = node grid(2, 2), core grid(2)
tensor B(8, 8): f64, csr; tensor x(8): f64; tensor y(8): f64
place B(r, c) -> L.node(r, c), B(r, c) -> L.core(~fuse(r, c))
y(i) = B(i, j) * x(j)
--- stderr
plan_cells.distal:4:8: error: on 2 ranks, one of them has entries of 'B' in several blocks of the other levels of its placement, which is not supported yet: run on 8 ranks, one for each processor, or on enough ranks that each has parts of one block only
   4 | y(i) = B(i, j) * x(j)
     |        ^~~~~~~
