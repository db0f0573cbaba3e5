# A param that is a value fits into the type of the statement.
# run: plan {file}
# status: 2
--- program
param n = 3000000000

tensor v(8): i32
tensor w(8): i64
tensor x(8): i32

w(i) = x(i) * n
v(i) = x(i) + n
--- stderr
param_value.distal:8:15: error: 'n' is 3000000000, which does not fit into i32, the type that the statement computes in
   8 | v(i) = x(i) + n
     |               ^
