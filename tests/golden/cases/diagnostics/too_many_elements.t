# A diagonal that an update assigns on another rank than that which has it, element by element.
# run: plan {file}
# status: 2
--- program
param n = 1000000

machine M = grid(2)
tensor A(n, n): f64
place A(x, y) -> M(0)

A(i, i) = 2 * A(i, i)

schedule A {
  distribute({i}, {io}, {ii}, M)
  communicate(A, io)
}
--- stderr
too_many_elements.distal:7:1: error: rank 0 computes more than 262144 separate elements of 'A' not in place, and each of them is in the plan; place 'A' in host so that each processor alone has what it computes, or distribute the loops over more processors
   7 | A(i, i) = 2 * A(i, i)
     | ^~~~~~~
