# Commands that do not parse: the others of the block are read all the same.
# run: check {file}
# status: 2
--- program
param n = 8
tensor A(n, n): f64; tensor B(n, n): f64
A(i, j) = B(j, i)
schedule A {
  split(i, io, ii, 4
  reorder({i, j})
  split i
  distribute({}, M)
  distribute({i, 3}, L.node)
  split(i, io, ii, q + 1)
  split(i, io, ii, 1 / 0), unroll(ii, 2)
  split(i, io, ii, 2) unroll(ii, 2)
  split(i, , ii, 2)
  split(i, io, ii, (2 + )
  distribute(i, M.)
  distribute({i, j)
  3
  )
  split(i, io, ii, 1.5 * n); place(i)
}
--- stderr
schedule_syntax.distal:5:21: error: expected ',' or ')', found end of line
   5 |   split(i, io, ii, 4
     |                     ^
schedule_syntax.distal:7:9: error: expected '(' after 'split', found 'i'
   7 |   split i
     |         ^
schedule_syntax.distal:8:14: error: this list is empty; expected at least one name
   8 |   distribute({}, M)
     |              ^~
schedule_syntax.distal:9:18: error: expected a name, found '3'
   9 |   distribute({i, 3}, L.node)
     |                  ^
schedule_syntax.distal:10:20: error: unknown param 'q' (params: ranks n)
  10 |   split(i, io, ii, q + 1)
     |                    ^
schedule_syntax.distal:11:22: error: division by 0; a divisor is positive
  11 |   split(i, io, ii, 1 / 0), unroll(ii, 2)
     |                      ^
schedule_syntax.distal:11:26: error: expected the end of the line or '}' after a command, found ','
  11 |   split(i, io, ii, 1 / 0), unroll(ii, 2)
     |                          ^
schedule_syntax.distal:12:23: error: expected the end of the line or '}' after a command, found 'unroll'
  12 |   split(i, io, ii, 2) unroll(ii, 2)
     |                       ^~~~~~
schedule_syntax.distal:13:12: error: expected an integer or a param, found ','
  13 |   split(i, , ii, 2)
     |            ^
schedule_syntax.distal:14:25: error: expected an integer or a param, found ')'
  14 |   split(i, io, ii, (2 + )
     |                         ^
schedule_syntax.distal:15:19: error: expected the name of a level after '.', found ')'
  15 |   distribute(i, M.)
     |                   ^
schedule_syntax.distal:16:19: error: expected ',' or '}', found ')'
  16 |   distribute({i, j)
     |                   ^
schedule_syntax.distal:17:3: error: expected a schedule command, found '3'
  17 |   3
     |   ^
schedule_syntax.distal:18:3: error: expected a schedule command, found ')'
  18 |   )
     |   ^
schedule_syntax.distal:19:30: error: expected a schedule command, but 'place' is a reserved word
  19 |   split(i, io, ii, 1.5 * n); place(i)
     |                              ^~~~~
