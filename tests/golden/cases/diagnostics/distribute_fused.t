# No loop over coordinates is divided as fused entries are.
# run: check {file}
# status: 2
--- program
machine M = grid(2)
tensor B(8, 8): f64, csr; tensor x(8): f64; tensor y(8): f64
place B(i, j) -> M(~fuse(i, j))
y(i) = B(i, j) * x(j)
schedule y { distribute({i}, {io}, {ii}, B) }
--- stderr
distribute_fused.distal:5:42: error: cannot distribute: the placement of 'B' divides its entries, which no loop over coordinates does: collapse the loops and apply pos, divide and distribute, or leave out the schedule
   5 | schedule y { distribute({i}, {io}, {ii}, B) }
     |                                          ^
