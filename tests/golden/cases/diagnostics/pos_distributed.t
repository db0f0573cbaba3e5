# Positions are distributed in equal parts.
# run: explain {file} --stop-after c
# status: 2
--- program
tensor B(8, 8): f64, csr
tensor x(8): f64
tensor y(8): f64
y(i) = B(i, j) * x(j)
schedule y { collapse(i, j, f); pos(f, p, B(i, j)); distribute(p) }
--- stderr
pos_distributed.distal:5:53: error: positions of 'B' can be distributed in parts of equal number only: divide(p, ...), and distribute its outer loop
   5 | schedule y { collapse(i, j, f); pos(f, p, B(i, j)); distribute(p) }
     |                                                     ^~~~~~~~~~~~~
