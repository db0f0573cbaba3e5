# Functions: unknown ones, the number of arguments, types, and names that they have taken.
# run: check {file}
# status: 2
--- program
param max = 4
tensor z(max): c128
tensor exp(max): f64
tensor x(max): f64
tensor k(max): i32
tensor A(max, max): f64
x(i) = sqr(A(i, j))
x(i) = smooth(A(i, j))
x(i) = zeta(3)
x(i) = foo(i)
x(i) = sqrt
x(i) = sqrt()
x(i) = sqrt(x2(i))
x(i) = pow(A(i, j))
x(i) = min(A(i, j), 1, 2)
x(i) = min(2, z(i))
x(i) = abs(z(j)) * max(abs(z(i)) + z(i), 1)
x(i) = sqrt(z(i))
k(i) = sqrt(4)
k(i) = pow(2, 3) * 2
sqrt(i) = x(i)
x(i) = sqrt(A(i, i) A(i, i))
x(i) = log(A(i, i)
--- stderr
functions.distal:3:8: error: 'exp' is a function; choose another name for the tensor
   3 | tensor exp(max): f64
     |        ^~~
functions.distal:7:8: error: unknown function 'sqr'; did you mean 'sqrt'?
   7 | x(i) = sqr(A(i, j))
     |        ^~~
functions.distal:8:8: error: unknown function 'smooth' (functions: sqrt abs real imag conj exp log sin cos tanh erf pow min max)
   8 | x(i) = smooth(A(i, j))
     |        ^~~~~~
functions.distal:9:8: error: unknown function 'zeta' (functions: sqrt abs real imag conj exp log sin cos tanh erf pow min max)
   9 | x(i) = zeta(3)
     |        ^~~~
functions.distal:10:8: error: unknown tensor 'foo' (tensors: z x k A)
  10 | x(i) = foo(i)
     |        ^~~
functions.distal:11:8: error: 'sqrt' is a function: sqrt(a)
  11 | x(i) = sqrt
     |        ^~~~
functions.distal:12:8: error: 'sqrt' is a function of one argument, sqrt(a), but 0 are given here
  12 | x(i) = sqrt()
     |        ^~~~~~
functions.distal:13:13: error: unknown tensor 'x2'; did you mean 'x'?
  13 | x(i) = sqrt(x2(i))
     |             ^~
functions.distal:14:8: error: 'pow' is a function of two arguments, pow(a, b), but 1 is given here
  14 | x(i) = pow(A(i, j))
     |        ^~~~~~~~~~~~
functions.distal:15:8: error: 'min' is a function of two arguments, min(a, b), but 3 are given here
  15 | x(i) = min(A(i, j), 1, 2)
     |        ^~~~~~~~~~~~~~~~~~
functions.distal:16:15: error: 'min' is not defined on complex numbers, and this argument is c128
  16 | x(i) = min(2, z(i))
     |               ^~~~
functions.distal:17:24: error: 'max' is not defined on complex numbers, and this argument is c128
  17 | x(i) = abs(z(j)) * max(abs(z(i)) + z(i), 1)
     |                        ^~~~~~~~~~~~~~~~
functions.distal:18:1: error: the right side is c128, which cannot be stored in 'x' of type f64; declare 'x' as c128, or store real(...)
  18 | x(i) = sqrt(z(i))
     | ^~~~
functions.distal:19:1: error: the right side is f64, which cannot be stored in 'k' of type i32; declare 'k' as f64
  19 | k(i) = sqrt(4)
     | ^~~~
functions.distal:20:1: error: the right side is f64, which cannot be stored in 'k' of type i32; declare 'k' as f64
  20 | k(i) = pow(2, 3) * 2
     | ^~~~
functions.distal:21:1: error: 'sqrt' is a function, not a tensor
  21 | sqrt(i) = x(i)
     | ^~~~
functions.distal:22:21: error: expected ',', ')' or an operator, found 'A'
  22 | x(i) = sqrt(A(i, i) A(i, i))
     |                     ^
functions.distal:23:19: error: expected ',', ')' or an operator, found end of line
  23 | x(i) = log(A(i, i)
     |                   ^
