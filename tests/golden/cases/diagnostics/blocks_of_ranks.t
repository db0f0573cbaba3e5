# run: check {file}
# status: 2
--- program
# The blocks are there on 1 or 2 ranks, but the machine makes the program run on 4.
machine M = grid(4)
tensor A(8): f64
tensor B(8): f64
place A(x) -> M(cyclic(x, 3 - ranks))
A(i) = B(i)
--- stderr
blocks_of_ranks.distal:5:17: error: expected a block of 1 to 2147483647 coordinates
   5 | place A(x) -> M(cyclic(x, 3 - ranks))
     |                 ^~~~~~~~~~~~~~~~~~~~
