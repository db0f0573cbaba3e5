# run: check {file}
# status: 2
--- program
tensor s: f64
tensor t: f64
repeat 2 {
repeat 2 {
repeat 2 {
repeat 2 {
repeat 2 {
repeat 2 {
repeat 2 {
repeat 2 {
repeat 2 {
repeat 2 {
repeat 2 {
repeat 2 {
repeat 2 {
repeat 2 {
repeat 2 {
repeat 2 {
repeat 2 {
s = t
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
--- stderr
nested.distal:19:1: error: repetitions are nested more than 16 deep
  19 | repeat 2 {
     | ^~~~~~
