# Iterations over entries of which several have the same coordinate race as others do.
# run: explain {file} --stop-after loops
# status: 2
--- program
tensor B(8, 8): f64, coo
tensor C(8, 8): f64, dcsr
tensor D(8, 8): f64, dcsr
tensor x(8): f64
tensor y(8): f64
tensor A(8, 8): f64
y(i) = B(i, j) * x(j)
schedule y { parallelize(i, cpu_thread) }
--- stderr
sparse_parallel.distal:8:14: error: cannot parallelize 'i': its iterations update the same elements of 'y' (name a race strategy: atomic, reduction or temporary)
   8 | schedule y { parallelize(i, cpu_thread) }
     |              ^~~~~~~~~~~~~~~~~~~~~~~~~~
