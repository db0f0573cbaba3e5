# run: check {file}
# status: 2
--- program
# One r goes with every i, as k changes inside of it.
tensor A(90): f64
tensor B(90, 70): f64
A(i) = B(i, k)
schedule A {
  reorder({k, i})
  rotate(i, {k}, r)
  reorder({r, k})
  parallelize(r, cpu_thread)
}
--- stderr
threads_around_rotation.distal:9:3: error: cannot parallelize 'r': its iterations update the same elements of 'A' (name a race strategy: atomic, reduction or temporary)
   9 |   parallelize(r, cpu_thread)
     |   ^~~~~~~~~~~~~~~~~~~~~~~~~~
