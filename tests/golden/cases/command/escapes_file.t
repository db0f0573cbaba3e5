# run: check "[31mnone: error: forged"
# status: 2
--- program
--- stderr
distal: error: cannot read '\x1b[31m\rnone: error: forged': No such file or directory
