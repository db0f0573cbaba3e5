# run: schedule {file} -n 4
# status: 2
--- program
machine M = grid(2, 3)
tensor A(50, 50): f64
tensor B(50, 50): f64
place A(x, y) -> M(x, y)
place B(x, y) -> M(x, y)
A(i, j) = B(j, i)
--- stderr
machine_other_ranks.distal:1:9: error: machine 'M' has 6 processors, which is not a multiple of 4 ranks: run on 6 ranks or a divisor of that
   1 | machine M = grid(2, 3)
     |         ^
