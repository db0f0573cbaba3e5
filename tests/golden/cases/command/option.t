# Options: unknown, without a value, with a wrong one, of another command.
# run: plan --stas --stats=xml --repeat=3 -n0 -p n --ranks {file} -p m=x --quiet=1 -Z -n
# status: 2
--- program
machine M = grid(2)
tensor A(4): f64
tensor B(4): f64
place A(x) -> M(x)
place B(x) -> M(x)
A(i) = B(i)
--- stderr
distal: error: unknown option '--stas'; did you mean '--stats'?
distal: error: invalid value 'xml' for --stats: expected text or json
distal: error: 'plan' does not take --repeat, an option of 'run'
distal: error: invalid value '0' for --ranks: expected an integer from 1 to 2147483647
distal: error: invalid value 'n' for --param: expected NAME=INT
distal: error: invalid value 'option.distal' for --ranks: expected an integer from 1 to 2147483647
distal: error: invalid value 'm=x' for --param: expected NAME=INT, where INT is a 64-bit integer
distal: error: --quiet takes no value
distal: error: unknown option '-Z'
distal: error: --ranks needs a value: --ranks N
distal: error: no program given: write distal plan FILE, where - is standard input, or distal plan -e TEXT
'distal help' lists commands and options
