# Options: unknown, without a value, with a wrong one, of another command.
# run: plan --stas --stats=xml --repeat=3 -n0 -p n --ranks {file} -p m=x --quiet=1 -n
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
distal: error: 'xml' of --stats is not 'text' or 'json'
distal: error: --repeat does not belong to 'plan'
distal: error: '0' of --ranks is not a positive integer
distal: error: 'n' of --param is not of the form NAME=INT
distal: error: 'option.distal' of --ranks is not a positive integer
distal: error: 'm=x' of --param is not of the form NAME=INT: what is set is not a 64-bit integer
distal: error: --quiet takes no value
distal: error: --ranks needs a value: --ranks N
distal: error: no program: distal plan FILE, where - is standard input, or distal plan -e TEXT
'distal help' lists commands and options
