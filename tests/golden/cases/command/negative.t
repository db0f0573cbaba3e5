# run: run {file} --warmup -1
# status: 2
--- program
tensor a: f64
a = 1
--- stderr
distal: error: invalid value '-1' for --warmup: expected an integer from 0 to 2147483647
'distal help' lists commands and options
