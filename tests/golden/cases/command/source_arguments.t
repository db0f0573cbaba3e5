# run: run {file} --in B=const --in C=iota:3
# status: 2
# Arguments that are missing, and some where there are none.
--- program
tensor A(4): f64
tensor B(4): f64
tensor C(4): f64
A(i) = B(i) * C(i)
--- stderr
distal: error: 'const' is not a source for B: expected const:V
distal: error: 'iota:3' is not a source for C: expected iota
