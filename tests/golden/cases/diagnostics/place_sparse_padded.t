# Entries do not balance what a dense level stores below stored coordinates.
# run: check {file}
# status: 2
--- program
machine M = grid(2)
tensor B(8, 8): f64, {compressed, dense}
tensor C(8, 8): f64, {compressed, dense}
tensor D(8, 8): f64, {compressed, dense}
tensor E(8, 8, 8): f64, {compressed, compressed, dense}
place B(x, y) -> M(y)
place C(x, y) -> M(weighted(y))
place D(x, y) -> M(~fuse(x, y))
place E(x, y, z) -> M(~fuse(x, y, z))
tensor F(8, 8): f64, {compressed, dense}
place F(x, y) -> M(~fuse(y, x))
--- stderr
place_sparse_padded.distal:7:20: error: every coordinate of mode 'y' of 'C' is stored, so blocks of equal length have equally many elements: write 'y'
   7 | place C(x, y) -> M(weighted(y))
     |                    ^~~~~~~~~~~
place_sparse_padded.distal:8:20: error: every coordinate of mode 'y' of 'D' is stored below each entry of the modes before it, so it has no entries to balance: write '~x'
   8 | place D(x, y) -> M(~fuse(x, y))
     |                    ^~~~~~~~~~~
place_sparse_padded.distal:9:23: error: every coordinate of mode 'z' of 'E' is stored below each entry of the modes before it, so it has no entries to balance: write '~fuse(x, y)'
   9 | place E(x, y, z) -> M(~fuse(x, y, z))
     |                       ^~~~~~~~~~~~~~
place_sparse_padded.distal:11:20: error: 'F' is divided by its entries in the order in which they are stored: write '~x'
  11 | place F(x, y) -> M(~fuse(y, x))
     |                    ^~~~~~~~~~~
