# run: plan -n 5 {file}
# status: 2
--- program
machine M = grid(1)
tensor A(4, 4): f64
tensor B(4, 4): f64
place A(x, y) -> M(x)
A(i, j) = B(j, i)
--- stderr
ranks_of_one.distal:1:9: error: machine 'M' has 1 processor, which does not run on 5 ranks: run on 1 rank
   1 | machine M = grid(1)
     |         ^
