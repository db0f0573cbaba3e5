# Values given on the command line: a param that there is not, and the built-in one.
# run: check -p chnuk=3 -p x=1 -p ranks=4 -p broken=2 -p M=3 {file}
# status: 2
--- program
param nodes = 4, chunk = 256, broken = chunk +
machine M = grid(nodes)
--- stderr
override.distal: error: the program has no param 'chnuk'; did you mean 'chunk'?
override.distal: error: the program has no param 'x' (params: nodes chunk broken)
override.distal: error: param 'ranks' is the number of processes; give it with --ranks
override.distal: error: the program has no param 'M' (params: nodes chunk broken)
override.distal:1:47: error: expected an integer or a param, found end of line
   1 | param nodes = 4, chunk = 256, broken = chunk +
     |                                               ^
