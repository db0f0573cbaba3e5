# run: check {file}
# status: 2
--- program
tensor A(4): f64
tensor B(4): f64
tensor C(4, 4): f64
A(i) = B[i]
A(i) = C[i, j] + B{i}
A(i) = B{i}
A[i] = B[i]
A(i] = B(i)
--- stderr
square_brackets.distal:4:9: error: unexpected '['; indices are written in parentheses, B(i, j)
   4 | A(i) = B[i]
     |         ^
square_brackets.distal:5:9: error: unexpected '['; indices are written in parentheses, B(i, j)
   5 | A(i) = C[i, j] + B{i}
     |         ^
square_brackets.distal:6:9: error: expected '(' and indices, found '{'
   6 | A(i) = B{i}
     |         ^
square_brackets.distal:7:2: error: unexpected '['; indices are written in parentheses, B(i, j)
   7 | A[i] = B[i]
     |  ^
square_brackets.distal:7:9: error: unexpected '['; indices are written in parentheses, B(i, j)
   7 | A[i] = B[i]
     |         ^
square_brackets.distal:8:4: error: unexpected ']'; indices are written in parentheses, B(i, j)
   8 | A(i] = B(i)
     |    ^
