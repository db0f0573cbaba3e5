# Without a machine no process has several processors to execute.
# run: run {file} -n 100000
# status: 2
# mask: (?<=for )\d+ cores?
# mask: (?<=-n )\d+
# mask: (?<= on )\d+(?= process)
# mask: (?<=process)es
--- program
tensor A(8): f64

A(i) = 1
--- stderr
distal: error: 100000 process... are too many for ...: at most 16 per core are started
distal: note: -n ... runs the program on ... process...
distal: note: --oversubscribe starts all 100000 process...
