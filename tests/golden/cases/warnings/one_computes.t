# run: check -n 3 {file}
--- program
param n = 1000
tensor x(n): f64
tensor y(n): f64
tensor a: f64
tensor b: f64
b = a * a
a = x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i)
--- stderr
one_computes.distal:7:1: warning: one of 3 ranks computes all of 'a', as nothing says where tensors live [-Wone-computes]
   7 | a = x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i)
     | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
one_computes.distal:7:5: note: 'machine M = grid(ranks)' and 'place x(i) -> M(i)' divide the work among the ranks
   7 | a = x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i)
     |     ^~~~
