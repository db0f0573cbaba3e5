# Counts that are integers, but more than there can be.
# run: run --threads 4097 --repeat 99999999999 --ranks 2147483648 {file}
# status: 2
--- program
tensor a: f64
a = 1
--- stderr
distal: error: invalid value '4097' for --threads: expected an integer from 1 to 4096
distal: error: invalid value '99999999999' for --repeat: expected an integer from 1 to 2147483647
distal: error: invalid value '2147483648' for --ranks: expected an integer from 1 to 2147483647
'distal help' lists commands and options
