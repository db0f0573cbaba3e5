# A block without its brace ends where the next declaration or statement begins.
# run: check {file}
# status: 2
--- program
tensor A(8, 8): f64; tensor B(8, 8): f64
A(i, j) = B(j, i)
schedule A {
  split(i, io, ii, 4)
A(i, j) = B(i, j)
schedule A {
  split(i, io, ii, 4)
tensor C(8 8): f64
--- stderr
schedule_open.distal:3:12: error: this '{' is never closed by a '}'
   3 | schedule A {
     |            ^
schedule_open.distal:6:12: error: this '{' is never closed by a '}'
   6 | schedule A {
     |            ^
schedule_open.distal:8:12: error: expected ',', ')' or an operator, found '8'
   8 | tensor C(8 8): f64
     |            ^
