# Positions that do not give the coordinates that are needed, or that are not known where their loop is.
# run: explain {file} --stop-after c
# status: 2
--- program
tensor B(8, 8): f64, csr
tensor T(8, 8): f64, csc
tensor A(8, 8): f64
A(i, j) = B(i, j) + T(i, j)
schedule A { pos(j, p, B(i, j)) }
A(j, i) = B(i, j) * B(j, i)
schedule A { pos(j, p, B(i, j)) }
--- stderr
pos_lowered.distal:5:14: error: cannot iterate over positions of 'B' in loop 'p': the right side has a value where 'B' has no entry, too
   5 | schedule A { pos(j, p, B(i, j)) }
     |              ^~~~~~~~~~~~~~~~~~
pos_lowered.distal:7:14: error: cannot iterate over positions of 'B' in loop 'p': loops over the levels of 'B' above are not outside of it; reorder the loops
   7 | schedule A { pos(j, p, B(i, j)) }
     |              ^~~~~~~~~~~~~~~~~~
