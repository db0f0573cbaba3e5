# run: check -n 1 {file}
--- program
param n = 1000
tensor x(n): f64
tensor y(n): f64
tensor a: f64
tensor b: f64
b = a * a
a = x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i)
