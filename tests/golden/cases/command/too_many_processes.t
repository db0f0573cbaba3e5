# Refused before anything is planned or started. The number of cores is the machine's.
# run: run {file} -p g=100000
# status: 2
# mask: (?<=for )\d+ cores?
# mask: (?<=-n )\d+
# mask: (?<= on )\d+(?= process)
# mask: (?<=process)es(?=,)
--- program
param g = 2

machine M = grid(g)

tensor A(8): f64

place A(x) -> M(x)

A(i) = 1
--- stderr
distal: error: 100000 processes are too many for ...: at most 16 per core are started
distal: note: -n ... runs the program on ... process..., each of which executes several processors of the machine
distal: note: --oversubscribe starts all 100000 processes
