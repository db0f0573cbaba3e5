# run: check {file}
# status: 2
# Lines that end with CR, as of old, and with CR LF.
--- program
tensor A(3): f64 # onetensor B(3): f64
A(i) = B(i) * C(i)A(i) = B(i) * b
--- stderr
line_ends.distal:3:15: error: unknown tensor 'C' (tensors: A B)
   3 | A(i) = B(i) * C(i)
     |               ^
line_ends.distal:4:15: error: unknown tensor 'b' (tensors: A B)
   4 | A(i) = B(i) * b
     |               ^
