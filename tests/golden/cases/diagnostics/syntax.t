# Statements that do not parse: each is skipped to its end, and reading goes on behind it.
# run: check {file}
# status: 2
--- program
tensor A(8, 8): f64
tensor v(8): f64
v(i) = A(i, j
v(i) = A(i, j))
v(i) = A(i, j) +
v(i) = A(i, j) A(i, j)
v(i) =
v(i)
v(i) == A(i, j)
v(i) -= A(i, j)
v(i = A(i, j)
v(i) = (A(i, j) + A(j, i)
v(i) = * A(i, j)
v(i) = +A(i, j)
v(i) = 2 ( A(i, j) )
split(i, io, ii, 4)
= 3
)
}
v(i) = A(i, j); v(i) = ; v(i) = A(
--- stderr
syntax.distal:3:14: error: expected ',' or ')', found end of line
   3 | v(i) = A(i, j
     |              ^
syntax.distal:4:15: error: expected an operator or the end of the line, found ')'
   4 | v(i) = A(i, j))
     |               ^
syntax.distal:5:17: error: expected a tensor, a number or '(', found end of line (a statement continues on the next line only inside parentheses)
   5 | v(i) = A(i, j) +
     |                 ^
syntax.distal:6:16: error: expected an operator or the end of the line, found 'A'
   6 | v(i) = A(i, j) A(i, j)
     |                ^
syntax.distal:7:7: error: expected a tensor, a number or '(', found end of line (a statement continues on the next line only inside parentheses)
   7 | v(i) =
     |       ^
syntax.distal:8:5: error: expected '=' or '+=' after 'v(...)', found end of line
   8 | v(i)
     |     ^
syntax.distal:9:7: error: expected a tensor, a number or '(', found '='
   9 | v(i) == A(i, j)
     |       ^
syntax.distal:10:6: error: there is no '-='; to subtract, write '+= -(...)'
  10 | v(i) -= A(i, j)
     |      ^~
syntax.distal:11:5: error: expected ',' or ')', found '='
  11 | v(i = A(i, j)
     |     ^
syntax.distal:12:26: error: expected ')' or an operator, found end of line
  12 | v(i) = (A(i, j) + A(j, i)
     |                          ^
syntax.distal:13:8: error: expected a tensor, a number or '(', found '*'
  13 | v(i) = * A(i, j)
     |        ^
syntax.distal:14:8: error: expected a tensor, a number or '(', found '+'
  14 | v(i) = +A(i, j)
     |        ^
syntax.distal:15:10: error: expected an operator or the end of the line, found '('
  15 | v(i) = 2 ( A(i, j) )
     |          ^
syntax.distal:16:1: error: expected a declaration or a statement; a command such as 'split' stands in a block 'schedule T { ... }'
  16 | split(i, io, ii, 4)
     | ^~~~~
syntax.distal:17:1: error: expected a declaration or a statement, found '='
  17 | = 3
     | ^
syntax.distal:18:1: error: expected a declaration or a statement, found ')'
  18 | )
     | ^
syntax.distal:19:1: error: expected a declaration or a statement, found '}'
  19 | }
     | ^
syntax.distal:20:24: error: expected a tensor, a number or '(', found ';'
  20 | v(i) = A(i, j); v(i) = ; v(i) = A(
     |                        ^
syntax.distal:20:35: error: expected ',' or ')', found end of line
  20 | v(i) = A(i, j); v(i) = ; v(i) = A(
     |                                   ^
