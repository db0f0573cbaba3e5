# A mistake in the statement that a condition is about is one mistake.
# run: check {file}
# status: 2
--- program
tensor A: f64
tensor B(3): f64
A = B(i, j)
repeat 3 {
  B(i) += A
} until A < 3
--- stderr
repeat_mistake.distal:3:5: error: 'B' has 1 mode, but 2 indices are given here
   3 | A = B(i, j)
     |     ^~~~~~~
