# run: check {file}
# status: 2
--- program
tensor s: f64
tensor t: f64
repeat 3 {
  s = t
  schedule s { split(i, io, ii, 4
}
s = t
}
--- stderr
not_closed_before.distal:5:34: error: expected ',' or ')', found end of line
   5 |   schedule s { split(i, io, ii, 4
     |                                  ^
