# More processors than MPI can number.
# run: plan {file} -p n=429496729
# status: 2
--- program
param n = 8

tensor A(n, n): i32
tensor B(n): i32

A(i, j) = B(i) * B(j)

schedule A {
  distribute({i, j})
}
--- stderr
too_many_processors.distal:6:1: error: the distributed loops need more than 2147483647 processors
   6 | A(i, j) = B(i) * B(j)
     | ^~~~~~~~~~~~~~~~~~~~~
