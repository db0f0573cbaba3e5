# Counts that are integers, but more than there can be.
# run: run --threads 4097 --repeat 99999999999 --ranks 2147483648 {file}
# status: 2
--- program
tensor a: f64
a = 1
--- stderr
distal: error: '4097' of --threads is not an integer from 1 to 4096
distal: error: '99999999999' of --repeat is not an integer from 1 to 2147483647
distal: error: '2147483648' of --ranks is not an integer from 1 to 2147483647
'distal help' lists commands and options
