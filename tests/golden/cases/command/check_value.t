# run: run --check=some {file}
# status: 2
--- program
tensor a: f64
a = 1
--- stderr
distal: error: invalid value 'some' for --check: expected all or sample
'distal help' lists commands and options
