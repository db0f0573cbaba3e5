# Loops that cannot be shared or unrolled because of what they go through.
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
schedule y { parallelize(j, cpu_vector) }
A(i, j) = C(i, j) + D(i, j)
schedule A { parallelize(i, cpu_thread); unroll(j, 2) }
A(i, j) = C(i, j) + D(i, j)
schedule A { unroll(j, 2) }
--- stderr
sparse_shared_loops.distal:8:14: error: cannot parallelize 'j': one coordinate is stored in each iteration of the loop outside of it
   8 | schedule y { parallelize(j, cpu_vector) }
     |              ^~~~~~~~~~~~~~~~~~~~~~~~~~
sparse_shared_loops.distal:10:42: error: cannot unroll 'j': it merges the coordinates of several sparse tensors, one after the other
  10 | schedule A { parallelize(i, cpu_thread); unroll(j, 2) }
     |                                          ^~~~~~~~~~~~
sparse_shared_loops.distal:12:14: error: cannot unroll 'j': it merges the coordinates of several sparse tensors, one after the other
  12 | schedule A { unroll(j, 2) }
     |              ^~~~~~~~~~~~
