# What tensor distribution notation has and is not supported yet.
# run: check {file}
# status: 2
--- program
machine M = grid(2)
tensor A(8, 8): f64; tensor B(8, 8): f64; tensor C(8, 8): f64; tensor D(8, 8): f64; tensor E(8, 8): f64
tensor F(8, 8): f64; tensor G(8, 8): f64
place A(x, y) -> M(~y)
place B(x, y) -> M(~x)
place C(x, y) -> M(~fuse(x, y))
place E(x, y) -> M(x) in disk
place F(x, y) -> M(x) in tape
place G(x, y) -> M(~z) in host
--- stderr
place_unsupported.distal:4:20: error: 'A' is dense, so that blocks of equal length are balanced: write 'y'; 'weighted(y, B)' gives it the blocks of a sparse tensor B
   4 | place A(x, y) -> M(~y)
     |                    ^~
place_unsupported.distal:5:20: error: 'B' is dense, so that blocks of equal length are balanced: write 'x'; 'weighted(x, B)' gives it the blocks of a sparse tensor B
   5 | place B(x, y) -> M(~x)
     |                    ^~
place_unsupported.distal:6:20: error: 'C' is dense, so that blocks of equal length are balanced: write 'x'; 'weighted(x, B)' gives it the blocks of a sparse tensor B
   6 | place C(x, y) -> M(~fuse(x, y))
     |                    ^~~~~~~~~~~
place_unsupported.distal:8:26: error: unknown memory 'tape' (memories: host gpu disk)
   8 | place F(x, y) -> M(x) in tape
     |                          ^~~~
place_unsupported.distal:9:21: error: 'z' does not name a mode of 'G' (named on the left: x y)
   9 | place G(x, y) -> M(~z) in host
     |                     ^
