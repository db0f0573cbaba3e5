# run: schedule {file} -n 4 --machine wrong.machine
# status: 2
--- program
param m = 601, n = 397, q = 853
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64
A(i, j) = B(i, k) * C(k, j)
--- file wrong.machine
machine "wrong"
level node none
--- stderr
wrong.machine:2:12: error: 'none' is not a positive number, such as 0.9
   2 | level node none
     |            ^~~~
