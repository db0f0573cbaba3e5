# A plan reads sparse inputs within the limit of memory.
# run: plan --in B=const:1 --memory-limit 1500 {file}
# status: 1
--- program
tensor B(8, 6): f64, csr
tensor x(6): f64
tensor y(8): f64
y(i) = B(i, j) * x(j)
--- stderr
distal: error: tensor B cannot be stored: not enough memory for its values, 384 bytes
