# Scalars are no work to be divided.
# run: check -n 3 -p n=10 {file}
--- program
param n = 1000
tensor x(n): f64
tensor y(n): f64
tensor a: f64
tensor b: f64
b = a * a
a = x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i) * x(i) * y(i)
