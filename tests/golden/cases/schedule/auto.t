# run: run {file} -n 3 --auto --check --print y
# mask: error [^,]*
--- program
tensor y(5): f64
tensor B(5, 7): f64
tensor x(7): f64
y(i) = B(i, j) * x(j)
--- stdout
y = [2.85226426 2.036752   1.95819189 1.42462175 2.03830262]
--- stderr
check y: max relative ..., tolerance 1.6e-15: ok
