# Loops run in an order in which the stored coordinates can be gone through.
# run: explain {file} --stop-after spmd
# status: 2
--- program
tensor B(8, 8): f64, csr
tensor x(8): f64
tensor y(8): f64
y(i) = B(i, j) * x(j)
schedule y { reorder({j, i}) }
--- stderr
sparse_order.distal:4:8: error: loop 'j' cannot run outside of 'i': 'B' stores its coordinates below those of 'i'; reorder the loops, or store 'B' in another order of modes
   4 | y(i) = B(i, j) * x(j)
     |        ^~~~~~~
