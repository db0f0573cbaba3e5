# Positions are below those of the level above.
# run: explain {file} --stop-after c
# status: 2
--- program
tensor B(8, 8): f64, csr
tensor x(8): f64
tensor y(8): f64
y(i) = B(i, j) * x(j)
schedule y { pos(j, p, B(i, j)); reorder({p, i}) }
--- stderr
pos_ordered.distal:4:8: error: loop 'p' cannot run outside of 'i': 'B' stores its coordinates below those of 'i'; reorder the loops, or store 'B' in another order of modes
   4 | y(i) = B(i, j) * x(j)
     |        ^~~~~~~
