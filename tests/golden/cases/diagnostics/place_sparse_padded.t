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
--- stderr
place_sparse_padded.distal:7:20: error: mode 'y' of 'C' is stored in full below the modes before it, so that blocks of equal length are balanced: write 'y'
   7 | place C(x, y) -> M(weighted(y))
     |                    ^~~~~~~~~~~
place_sparse_padded.distal:8:20: error: mode 'y' of 'D' is stored in full below the modes before it, so that cutting between those is balanced: write '~x'
   8 | place D(x, y) -> M(~fuse(x, y))
     |                    ^~~~~~~~~~~
place_sparse_padded.distal:9:23: error: mode 'z' of 'E' is stored in full below the modes before it, so that cutting between those is balanced: write '~fuse(x, y)'
   9 | place E(x, y, z) -> M(~fuse(x, y, z))
     |                       ^~~~~~~~~~~~~~
