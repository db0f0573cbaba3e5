# run: run {file} -n 3 --auto --check --in B=random:3:0.1
# mask: error [^,]*
--- program
tensor y(50): f64
tensor B(50, 50): f64, csr
tensor x(50): f64
y(i) = B(i, j) * x(j)
--- stderr
check y: max relative ..., tolerance 1.8e-15: ok
