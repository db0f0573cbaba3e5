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
updates_in_ranges.distal:7:21: error: the index 'k + 1' may leave out elements of 'u', which is not supported where a statement reads what it writes and sums
   7 | u(i) += u(i) * A(i, k + 1)
     |                     ^~~~~
updates_in_ranges.distal: note: assign the sum to a second tensor before
