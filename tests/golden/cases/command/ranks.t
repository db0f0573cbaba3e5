# A number of ranks that the machine cannot be divided among.
# run: run {file} -n 3
# status: 2
--- program
machine M = grid(2)
tensor A(4): f64
tensor B(4): f64
place A(x) -> M(x)
place B(x) -> M(x)
A(i) = B(i)
--- stderr
ranks.distal:1:9: error: machine 'M' has 2 processors, which is not a multiple of 3 ranks: run on 2 ranks or a divisor of that
   1 | machine M = grid(2)
     |         ^
