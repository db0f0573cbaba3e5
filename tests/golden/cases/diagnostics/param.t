# Declarations of params: each mistake alone, and no complaint about what follows from it.
# run: check {file}
# status: 2
--- program
param ranks = 3
param n = 5, n = 6
param unknown = missing + 1, follows = unknown + 1
param late = later
param later = 1
param real = 1.5, text = -, after = 2
param novalue
param two 3, four = 4 five = 5
param sum = 9223372036854775807 + 1, product = 3000000000 * -4000000000, difference = -9223372036854775807 - 2
param zero = n / (n - 5), negative = n / -1
param open = (n + 1
param trailing = 1,
param uses = two + four + five + late
tensor A(follows, sum, zero): f64
--- stderr
param.distal:1:7: error: 'ranks' is built in: the number of processes; choose another name
   1 | param ranks = 3
     |       ^~~~~
param.distal:2:14: error: 'n' is already declared as a param; choose another name
   2 | param n = 5, n = 6
     |              ^
param.distal:2:7: note: it is declared here
   2 | param n = 5, n = 6
     |       ^
param.distal:3:17: error: unknown param 'missing' (params: ranks n)
   3 | param unknown = missing + 1, follows = unknown + 1
     |                 ^~~~~~~
param.distal:4:14: error: param 'later' is declared later, on line 5; a declaration comes before its use
   4 | param late = later
     |              ^~~~~
param.distal:6:14: error: 1.5 is not an integer
   6 | param real = 1.5, text = -, after = 2
     |              ^~~
param.distal:6:27: error: expected an integer or a param, found ','
   6 | param real = 1.5, text = -, after = 2
     |                           ^
param.distal:7:14: error: expected '=' and a value, found end of line
   7 | param novalue
     |              ^
param.distal:8:11: error: expected '=' and a value, found '3'
   8 | param two 3, four = 4 five = 5
     |           ^
param.distal:8:23: error: expected ',', an operator or the end of the line, found 'five'
   8 | param two 3, four = 4 five = 5
     |                       ^~~~
param.distal:9:33: error: 9223372036854775807 + 1 does not fit into 64 bits
   9 | param sum = 9223372036854775807 + 1, product = 3000000000 * -4000000000, difference = -9223372036854775807 - 2
     |                                 ^
param.distal:9:59: error: 3000000000 * -4000000000 does not fit into 64 bits
   9 | param sum = 9223372036854775807 + 1, product = 3000000000 * -4000000000, difference = -9223372036854775807 - 2
     |                                                           ^
param.distal:9:108: error: -9223372036854775807 - 2 does not fit into 64 bits
   9 | param sum = 9223372036854775807 + 1, product = 3000000000 * -4000000000, difference = -9223372036854775807 - 2
     |                                                                                                            ^
param.distal:10:16: error: division by 0; a divisor is positive
  10 | param zero = n / (n - 5), negative = n / -1
     |                ^
param.distal:10:40: error: division by -1; a divisor is positive
  10 | param zero = n / (n - 5), negative = n / -1
     |                                        ^
param.distal:11:20: error: expected ')' or an operator, found end of line
  11 | param open = (n + 1
     |                    ^
param.distal:12:20: error: expected the name of a param, found end of line
  12 | param trailing = 1,
     |                    ^
