# Entries are divided inside of blocks, and of nothing that entries balance in other modes.
# run: check {file}
# status: 2
--- program
machine L = node grid(2, 2), core grid(2)
machine D = node grid(2), socket grid(2), core grid(2)
tensor A(8, 8): f64, csr; tensor B(8, 8): f64, csr; tensor C(8, 8, 8): f64, csf; tensor E(8, 8, 8): f64, csf
tensor T(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2): f64, csf
place T(a, b, c, d, e, f, g, h, i, j, k, l) -> L.node(a, b), T(a, b, c, d, e, f, g, h, i, j, k, l) -> L.core(~fuse(a, b))
place A(x, y) -> L.node(weighted(x), y), A(x, y) -> L.core(~fuse(x, y))
place B(x, y) -> L.node(*, ~y), B(x, y) -> L.core(~fuse(x, y))
place C(x, y, z) -> D.node(z), C(x, y, z) -> D.socket(~fuse(x, y)), C(x, y, z) -> D.core(~fuse(x, y, z))
place E(x, y, z) -> D.node(~fuse(x, y)), E(x, y, z) -> D.socket(z), E(x, y, z) -> D.core(~fuse(x, y, z))
--- stderr
place_cells.distal:5:110: error: entries are divided inside of at most 7 other levels, of a tensor of at most 11 modes
   5 | place T(a, b, c, d, e, f, g, h, i, j, k, l) -> L.node(a, b), T(a, b, c, d, e, f, g, h, i, j, k, l) -> L.core(~fuse(a, b))
     |                                                                                                              ^~~~~~~~~~~
place_cells.distal:6:60: error: 'weighted(x)' around entries of fused modes is not supported yet beside other modes or 'cyclic': write 'x' there, or '~fuse(x, y)' at both levels
   6 | place A(x, y) -> L.node(weighted(x), y), A(x, y) -> L.core(~fuse(x, y))
     |                                                            ^~~~~~~~~~~
place_cells.distal:7:51: error: '~y' around entries of fused modes is not supported yet: write 'y' there, or '~fuse(x, y)' at both levels
   7 | place B(x, y) -> L.node(*, ~y), B(x, y) -> L.core(~fuse(x, y))
     |                                                   ^~~~~~~~~~~
place_cells.distal:8:55: error: mode 'z', which another level partitions, is fused with others inside of this one only: write '~fuse(x, y, z)' here, too
   8 | place C(x, y, z) -> D.node(z), C(x, y, z) -> D.socket(~fuse(x, y)), C(x, y, z) -> D.core(~fuse(x, y, z))
     |                                                       ^~~~~~~~~~~
place_cells.distal:9:28: error: mode 'z', which another level partitions, is fused with others inside of this one only: write '~fuse(x, y, z)' here, too
   9 | place E(x, y, z) -> D.node(~fuse(x, y)), E(x, y, z) -> D.socket(z), E(x, y, z) -> D.core(~fuse(x, y, z))
     |                            ^~~~~~~~~~~
