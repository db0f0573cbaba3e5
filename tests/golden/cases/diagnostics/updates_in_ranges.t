# Updates of some elements only.
# run: check {file}
# status: 2
--- program
param n = 8
tensor u(n): f64
tensor v(n): f64
tensor A(n, n): f64
u(i) = 2 * u(i) for i in 1 : n - 1
u(i + 1) = u(i + 1) + v(i)
u(i) += u(i) * A(i, k + 1)
--- stderr
updates_in_ranges.distal:7:21: error: 'k + 1' is an index or a range that may leave out elements of 'u', which this statement sums with: that is not supported in updates
   7 | u(i) += u(i) * A(i, k + 1)
     |                     ^~~~~
updates_in_ranges.distal: note: assign the sum to a second tensor before
