# Positions of a tensor that one process has.
# run: explain {file} --stop-after c
# status: 2
--- program
tensor B(8, 8): f64, csr
tensor x(8): f64
tensor y(8): f64
y(i) = B(i, j) * x(j)
schedule y { collapse(i, j, f); pos(f, p, B(i, j)); distribute(p) }
--- stderr
pos_distributed.distal:5:33: error: positions of 'B' are those on one rank, and distributing statements with loops over positions is not supported yet; leave pos out
   5 | schedule y { collapse(i, j, f); pos(f, p, B(i, j)); distribute(p) }
     |                                 ^~~~~~~~~~~~~~~~~~
