# Numbers: 64 bits, and what is no number at all.
# run: check {file}
# status: 2
--- program
tensor v(8): f64
param a = 9223372036854775808, b = 9223372036854775807
v(i) = 3x + 1e999 + .5 + 99999999999999999999 + 1e + 0x10 + 2.
v(i) = 1.2.3
--- stderr
numbers.distal:2:11: error: 9223372036854775808 does not fit into 64 bits (largest: 9223372036854775807)
   2 | param a = 9223372036854775808, b = 9223372036854775807
     |           ^~~~~~~~~~~~~~~~~~~
numbers.distal:3:8: error: '3x' is neither a number nor a name (numbers: 2, 0.5, 1e-3, 2i; a name begins with a letter)
   3 | v(i) = 3x + 1e999 + .5 + 99999999999999999999 + 1e + 0x10 + 2.
     |        ^~
numbers.distal:3:13: error: 1e999 is too large for a 64-bit real number
   3 | v(i) = 3x + 1e999 + .5 + 99999999999999999999 + 1e + 0x10 + 2.
     |             ^~~~~
numbers.distal:3:26: error: 99999999999999999999 does not fit into 64 bits (largest: 9223372036854775807)
   3 | v(i) = 3x + 1e999 + .5 + 99999999999999999999 + 1e + 0x10 + 2.
     |                          ^~~~~~~~~~~~~~~~~~~~
numbers.distal:3:49: error: '1e' is neither a number nor a name (numbers: 2, 0.5, 1e-3, 2i; a name begins with a letter)
   3 | v(i) = 3x + 1e999 + .5 + 99999999999999999999 + 1e + 0x10 + 2.
     |                                                 ^~
numbers.distal:3:54: error: '0x10' is neither a number nor a name (numbers: 2, 0.5, 1e-3, 2i; a name begins with a letter)
   3 | v(i) = 3x + 1e999 + .5 + 99999999999999999999 + 1e + 0x10 + 2.
     |                                                      ^~~~
numbers.distal:4:11: error: expected an operator or the end of the line, found '.3'
   4 | v(i) = 1.2.3
     |           ^~
