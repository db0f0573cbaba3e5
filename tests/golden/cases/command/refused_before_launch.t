# A mistake in the program costs no launch: DISTAL_MPIRUN is not asked.
# run: run {file} --check
# status: 2
--- program
machine M = grid(4)
tensor A(4): f64
tensor B(5): f64
A(i) = B(i)
--- stderr
refused_before_launch.distal:4:10: error: 'i' indexes mode 0 of 'A' (extent 4) and mode 0 of 'B' (extent 5); these extents must be equal
   4 | A(i) = B(i)
     |          ^
