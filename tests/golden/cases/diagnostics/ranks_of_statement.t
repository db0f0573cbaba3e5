# run: plan -n 4 {file}
# status: 2
--- program
machine M = grid(2, 3)
tensor A(4, 4): f64
tensor B(4, 4): f64
A(i, j) = B(j, i)
schedule A { distribute({i, j}, {io, jo}, {ii, ji}, M) }
--- stderr
ranks_of_statement.distal:1:9: error: machine 'M' has 6 processors, which is not a multiple of 4 ranks: run on 6 ranks or a divisor of that
   1 | machine M = grid(2, 3)
     |         ^
