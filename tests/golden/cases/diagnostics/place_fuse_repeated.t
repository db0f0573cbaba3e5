# A mode that is fused with itself, more often than a tensor has modes.
# run: check {file}
# status: 2
--- program
machine M = grid(2)
tensor A(8, 8): f64, csr
place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
A(i, j) = A(i, j)
--- stderr
place_fuse_repeated.distal:3:29: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                             ^
place_fuse_repeated.distal:3:32: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                ^
place_fuse_repeated.distal:3:35: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                   ^
place_fuse_repeated.distal:3:38: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                      ^
place_fuse_repeated.distal:3:41: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                         ^
place_fuse_repeated.distal:3:44: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                            ^
place_fuse_repeated.distal:3:47: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                               ^
place_fuse_repeated.distal:3:50: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                  ^
place_fuse_repeated.distal:3:53: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                     ^
place_fuse_repeated.distal:3:56: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                        ^
place_fuse_repeated.distal:3:59: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                           ^
place_fuse_repeated.distal:3:62: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                              ^
place_fuse_repeated.distal:3:65: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                 ^
place_fuse_repeated.distal:3:68: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                    ^
place_fuse_repeated.distal:3:71: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                       ^
place_fuse_repeated.distal:3:74: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                          ^
place_fuse_repeated.distal:3:77: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                             ^
place_fuse_repeated.distal:3:80: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                                ^
place_fuse_repeated.distal:3:83: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                                   ^
place_fuse_repeated.distal:3:86: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                                      ^
place_fuse_repeated.distal:3:89: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                                         ^
place_fuse_repeated.distal:3:92: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                                            ^
place_fuse_repeated.distal:3:95: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                                               ^
place_fuse_repeated.distal:3:98: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                                                  ^
place_fuse_repeated.distal:3:101: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                                                     ^
place_fuse_repeated.distal:3:104: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                                                        ^
place_fuse_repeated.distal:3:107: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                                                           ^
place_fuse_repeated.distal:3:110: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                                                              ^
place_fuse_repeated.distal:3:113: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                                                                 ^
place_fuse_repeated.distal:3:116: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                                                                    ^
place_fuse_repeated.distal:3:119: error: 'x' is already partitioned by another dimension of this arrow
   3 | place A(x, y) -> M(~fuse(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x))
     |                                                                                                                       ^
