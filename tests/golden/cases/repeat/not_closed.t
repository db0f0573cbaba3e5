# run: check {file}
# status: 2
--- program
tensor s: f64
tensor t: f64
repeat 3 {
  s = t
tensor u: f64
--- stderr
not_closed.distal:3:10: error: this '{' is never closed by a '}'
   3 | repeat 3 {
     |          ^
not_closed.distal:5:1: error: 'tensor' stands before a repetition, not inside of it: there are statements and their schedules only
   5 | tensor u: f64
     | ^~~~~~
