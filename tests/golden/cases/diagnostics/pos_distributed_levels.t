# Positions below others differ in number, and repeated coordinates are no positions of theirs.
# run: explain {file} --stop-after spmd
# status: 2
--- program
tensor B(8, 8): f64, csr; tensor x(8): f64; tensor y(8): f64; tensor z(8): f64
tensor C(8, 8, 8): f64, coo
y(i) = B(i, j) * x(j)
schedule y { pos(j, p, B(i, j)); divide(p, po, pi, 2); distribute(po) }
z(i) = C(i, j, k) * x(k)
schedule z { collapse(i, j, f); pos(f, p, C(i, j, k)); divide(p, po, pi, 2); distribute(po) }
--- stderr
pos_distributed_levels.distal:4:56: error: positions of 'B' below those of its first level differ in number, and cannot be distributed; collapse the loops over all levels above 'p' as well
   4 | schedule y { pos(j, p, B(i, j)); divide(p, po, pi, 2); distribute(po) }
     |                                                        ^~~~~~~~~~~~~~
pos_distributed_levels.distal:6:33: error: 'C' stores a coordinate of this level as often as it has entries below it, and positions of such a level cannot be distributed; collapse the loops over all of its levels
   6 | schedule z { collapse(i, j, f); pos(f, p, C(i, j, k)); divide(p, po, pi, 2); distribute(po) }
     |                                 ^~~~~~~~~~~~~~~~~~~~~
