# Extents that do not fit storage.
# run: check {file}
# status: 2
--- program
param big = 4000000000
tensor A(big, big, big): f64
tensor B(big, big, big): f64, {dense, compressed, compressed}
tensor C(big, big, big): f64, {dense, dense, dense}
tensor D(big, big, big): f64, {compressed, dense, dense}
tensor E(big, big, 4): f32, {dense, dense, compressed}
tensor F(4611686018427387905): f64, coo
tensor G(0, 4611686018427387905): f64
--- stderr
storage_size.distal:2:8: error: tensor 'A' has more bytes than fit into a 64-bit number
   2 | tensor A(big, big, big): f64
     |        ^
storage_size.distal:4:8: error: tensor 'C' has more bytes than fit into a 64-bit number
   4 | tensor C(big, big, big): f64, {dense, dense, dense}
     |        ^
storage_size.distal:5:8: error: what dense levels store of 'D' has more bytes than fit into a 64-bit number
   5 | tensor D(big, big, big): f64, {compressed, dense, dense}
     |        ^
storage_size.distal:6:8: error: what dense levels store of 'E' has more bytes than fit into a 64-bit number
   6 | tensor E(big, big, 4): f32, {dense, dense, compressed}
     |        ^
storage_size.distal:7:10: error: mode 0 of 'F' has extent 4611686018427387905; an extent is at most 2^62
   7 | tensor F(4611686018427387905): f64, coo
     |          ^~~~~~~~~~~~~~~~~~~
storage_size.distal:8:13: error: mode 1 of 'G' has extent 4611686018427387905; an extent is at most 2^62
   8 | tensor G(0, 4611686018427387905): f64
     |             ^~~~~~~~~~~~~~~~~~~
