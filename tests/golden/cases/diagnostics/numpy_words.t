# What is written otherwise in NumPy: a product of matrices, and a maximum.
# run: check {file}
# status: 2
--- program
tensor A(8, 8): f64
tensor B(8, 8): f64
tensor m: f64
A(i, j) = B(i, k) @ B(k, j)
m = max(B(i, j))
--- stderr
numpy_words.distal:4:19: error: unexpected '@'; a product of matrices is written B(i, k) * C(k, j)
   4 | A(i, j) = B(i, k) @ B(k, j)
     |                   ^
numpy_words.distal:5:5: error: 'max' is a function of two arguments, max(a, b), but 1 is given here; over the values of i it is max({i}, x(i))
   5 | m = max(B(i, j))
     |     ^~~~~~~~~~~~
