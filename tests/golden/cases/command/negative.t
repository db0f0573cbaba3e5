# run: run {file} --warmup -1
# status: 2
--- program
tensor a: f64
a = 1
--- stderr
distal: error: '-1' of --warmup is not an integer that is not negative
'distal help' lists commands and options
