# Characters that mean nothing; comments may hold any.
# run: check {file}
# status: 2
--- program
# naïve
param n = 4 @ 3, m = 5
param é = 3
param k = 2 – 1
tensor v(n): f64  $||
v(i) = "text" % 2
v(i) = v[i]
--- stderr
characters.distal:2:13: error: unexpected '@'; a product of matrices is written B(i, k) * C(k, j)
   2 | param n = 4 @ 3, m = 5
     |             ^
characters.distal:3:7: error: only ASCII characters are allowed outside of comments
   3 | param é = 3
     |       ^
characters.distal:4:13: error: only ASCII characters are allowed outside of comments
   4 | param k = 2 – 1
     |             ^
characters.distal:5:18: error: unexpected control character 0x01
   5 | tensor v(n): f64 \x01 $|\x7f|
     |                  ^~~~
characters.distal:5:20: error: unexpected '$|'
   5 | tensor v(n): f64 \x01 $|\x7f|
     |                       ^~
characters.distal:5:22: error: unexpected control character 0x7f
   5 | tensor v(n): f64 \x01 $|\x7f|
     |                         ^~~~
characters.distal:5:23: error: unexpected '|'
   5 | tensor v(n): f64 \x01 $|\x7f|
     |                             ^
characters.distal:6:8: error: unexpected '"'
   6 | v(i) = "text" % 2
     |        ^
characters.distal:6:13: error: unexpected '"'
   6 | v(i) = "text" % 2
     |             ^
characters.distal:6:15: error: unexpected '%'
   6 | v(i) = "text" % 2
     |               ^
characters.distal:7:9: error: unexpected '['; indices are written in parentheses, B(i, j)
   7 | v(i) = v[i]
     |         ^
