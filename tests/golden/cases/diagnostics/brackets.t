# What follows a word that takes brackets.
# run: check {file}
# status: 2
--- program
machine M = grid(2)
machine N = node grid 2
tensor A(4): f64, order 1
tensor B(4): f64
tensor C(4): f64
tensor D(4): f64
place B(x) -> M
place C(x) -> M(x) M(x)
place D(x) -> M(~fuse)
table E(4): f64
A(i) = B(i)
schedule A { split(i io, ii, 4); split(i, io, ii 4); reorder({i j}) }
A(i j) = B(i)
A(i) = B(i) ** 2
A(i) = B(i)^2
A(i) -= B(i)
A(i) *= B(i)
--- stderr
brackets.distal:2:23: error: expected '(' after 'grid', found '2'
   2 | machine N = node grid 2
     |                       ^
brackets.distal:3:25: error: expected '(' after 'order', found '1'
   3 | tensor A(4): f64, order 1
     |                         ^
brackets.distal:7:16: error: expected '(' and an entry for each dimension of the machine, found end of line
   7 | place B(x) -> M
     |                ^
brackets.distal:8:20: error: expected ',' and another arrow, 'in' and a memory, or the end of the line, found 'M'
   8 | place C(x) -> M(x) M(x)
     |                    ^
brackets.distal:9:18: error: 'fuse' does not name a mode of 'D' (named on the left: x)
   9 | place D(x) -> M(~fuse)
     |                  ^~~~
brackets.distal:10:1: error: unknown declaration 'table' (declarations: param machine tensor place schedule repeat)
  10 | table E(4): f64
     | ^~~~~
brackets.distal:12:22: error: expected ',' or ')', found 'io'
  12 | schedule A { split(i io, ii, 4); split(i, io, ii 4); reorder({i j}) }
     |                      ^~
brackets.distal:12:50: error: expected ',' or ')', found '4'
  12 | schedule A { split(i io, ii, 4); split(i, io, ii 4); reorder({i j}) }
     |                                                  ^
brackets.distal:12:65: error: expected ',' or '}', found 'j'
  12 | schedule A { split(i io, ii, 4); split(i, io, ii 4); reorder({i j}) }
     |                                                                 ^
brackets.distal:13:5: error: expected ',' or ')', found 'j'
  13 | A(i j) = B(i)
     |     ^
brackets.distal:14:13: error: unexpected '**'; a power of elements is written pow(a, b)
  14 | A(i) = B(i) ** 2
     |             ^~
brackets.distal:15:12: error: unexpected '^'; a power of elements is written pow(a, b)
  15 | A(i) = B(i)^2
     |            ^
brackets.distal:16:6: error: there is no '-='; to subtract, write '+= -(...)'
  16 | A(i) -= B(i)
     |      ^~
