# The word names nothing else.
# run: check {file}
# status: 2
--- program
tensor repeat(4): f64
--- stderr
name.distal:1:8: error: expected the name of a tensor, but 'repeat' is a reserved word
   1 | tensor repeat(4): f64
     |        ^~~~~~
