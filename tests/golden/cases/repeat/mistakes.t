# run: check {file}
# status: 2
--- program
param n = 8
tensor x(n): f64
tensor y(n): f64
tensor s: f64
tensor z: c128
tensor a: f64
repeat { y(i) = x(i) }
repeat n - 9 { y(i) = x(i) }
repeat 3 { }
repeat 3 y(i) = x(i)
repeat 3 until s < 1 { s = y(i) }
repeat 3 { s = y(i) } until s
repeat 3 { s = y(i) } until s < n
repeat 3 { s = y(i) } until s > 1
repeat 3 { s = y(i) } until y(i) < 1
repeat 3 { s = y(i) } until a < 1
repeat 3 { z = y(i) } until z < 1
repeat 3 { tensor w: f64 }
repeat 3 { s = q(i) } until s < 1
repeat 3 { s = y(i) } y(i) = x(i)
until s < 1
repeat 3.5 { s = y(i) }
repeat m { s = y(i) }
--- stderr
mistakes.distal:7:8: error: expected how many times, at most, after 'repeat', found '{'
   7 | repeat { y(i) = x(i) }
     |        ^
mistakes.distal:8:1: error: statements cannot be repeated -1 times
   8 | repeat n - 9 { y(i) = x(i) }
     | ^~~~~~~~~~~~
mistakes.distal:9:1: error: there is no statement between the braces that could be repeated
   9 | repeat 3 { }
     | ^~~~~~~~
mistakes.distal:10:10: error: expected '{' and statements, found 'y'
  10 | repeat 3 y(i) = x(i)
     |          ^
mistakes.distal:11:10: error: the condition is evaluated at the end of each round, and stands after the block: 'repeat N { ... } until EXPR < NUMBER'
  11 | repeat 3 until s < 1 { s = y(i) }
     |          ^~~~~
mistakes.distal:12:29: error: expected a condition 'EXPR < NUMBER' after 'until', such as 'sqrt(r) < 1e-6'
  12 | repeat 3 { s = y(i) } until s
     |                             ^
mistakes.distal:13:33: error: expected a number, found 'n'
  13 | repeat 3 { s = y(i) } until s < n
     |                                 ^
mistakes.distal:14:29: error: expected a condition 'EXPR < NUMBER' after 'until', such as 'sqrt(r) < 1e-6'
  14 | repeat 3 { s = y(i) } until s > 1
     |                             ^
mistakes.distal:14:31: error: unexpected '>'
  14 | repeat 3 { s = y(i) } until s > 1
     |                               ^
mistakes.distal:15:29: error: 'y' has indices, but a condition is of scalars: assign what is to be compared to one
  15 | repeat 3 { s = y(i) } until y(i) < 1
     |                             ^~~~
mistakes.distal:16:29: error: no statement up to the end of the repetition assigns 'a'; a condition is of computed scalars
  16 | repeat 3 { s = y(i) } until a < 1
     |                             ^
mistakes.distal:17:29: error: complex numbers have no order; compare 'abs(...)'
  17 | repeat 3 { z = y(i) } until z < 1
     |                             ^
mistakes.distal:18:12: error: 'tensor' stands before a repetition, not inside of it: there are statements and their schedules only
  18 | repeat 3 { tensor w: f64 }
     |            ^~~~~~
mistakes.distal:19:16: error: unknown tensor 'q' (tensors: x y s z a)
  19 | repeat 3 { s = q(i) } until s < 1
     |                ^
mistakes.distal:20:23: error: expected the end of the line, found 'y'
  20 | repeat 3 { s = y(i) } y(i) = x(i)
     |                       ^
mistakes.distal:21:1: error: unknown declaration 'until' (declarations: param machine tensor place schedule repeat)
  21 | until s < 1
     | ^~~~~
mistakes.distal:22:8: error: 3.5 is not an integer
  22 | repeat 3.5 { s = y(i) }
     |        ^~~
mistakes.distal:23:8: error: unknown param 'm' (params: ranks n)
  23 | repeat m { s = y(i) }
     |        ^
