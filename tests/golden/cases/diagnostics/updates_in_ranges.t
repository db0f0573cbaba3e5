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
updates_in_ranges.distal:5:21: error: 'i in 1 : n - 1' is an index or a range that may leave out elements of 'u', which the statement reads as well: that is supported with '+=' only, and where what reads 'u' is not summed
   5 | u(i) = 2 * u(i) for i in 1 : n - 1
     |                     ^
updates_in_ranges.distal: note: write '+=' with the difference, or assign to a second tensor
updates_in_ranges.distal:6:3: error: 'i + 1' is an index or a range that may leave out elements of 'u', which the statement reads as well: that is supported with '+=' only, and where what reads 'u' is not summed
   6 | u(i + 1) = u(i + 1) + v(i)
     |   ^~~~~
updates_in_ranges.distal: note: write '+=' with the difference, or assign to a second tensor
updates_in_ranges.distal:7:21: error: 'k + 1' is an index or a range that may leave out elements of 'u', which the statement reads as well: that is supported with '+=' only, and where what reads 'u' is not summed
   7 | u(i) += u(i) * A(i, k + 1)
     |                     ^~~~~
updates_in_ranges.distal: note: write '+=' with the difference, or assign to a second tensor
