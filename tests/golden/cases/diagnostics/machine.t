# Declarations of machines.
# run: check {file}
# status: 2
--- program
param n = 0
machine M = grid(2, n, n - 3)
machine = grid(2)
machine A = nod grid(2)
machine B = node grid(2), node grid(3)
machine C = grid(2), grid(3)
machine D = node grid(2), grid(3)
machine E = grid()
machine F = 4
machine G = node
machine H = grid(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
machine I = grid(4000000000, 4000000000)
machine J = grid(2) gpu
machine tensor = grid(2)
machine K = node grid(1), socket grid(1), core grid(1), gpu grid(1), node grid(1)
machine L = board grid(1), socket grid(1), core grid(1), gpu grid(1), node grid(1)
machine n = grid(2)
tensor T(4): f64
place T(x) -> M(x, *, *)
--- stderr
machine.distal:2:21: error: dimension 1 of machine 'M' has size 0; a size is at least 1
   2 | machine M = grid(2, n, n - 3)
     |                     ^
machine.distal:2:24: error: dimension 2 of machine 'M' has size -3; a size is at least 1
   2 | machine M = grid(2, n, n - 3)
     |                        ^~~~~
machine.distal:3:9: error: expected the name of a machine, found '='
   3 | machine = grid(2)
     |         ^
machine.distal:4:13: error: unknown level 'nod' of a machine; did you mean 'node'?
   4 | machine A = nod grid(2)
     |             ^~~
machine.distal:5:27: error: machine 'B' has level 'node' twice
   5 | machine B = node grid(2), node grid(3)
     |                           ^~~~
machine.distal:6:13: error: a machine with several levels names each of them: node grid(2, 2), gpu grid(4)
   6 | machine C = grid(2), grid(3)
     |             ^~~~
machine.distal:7:27: error: a machine with several levels names each of them: node grid(2, 2), gpu grid(4)
   7 | machine D = node grid(2), grid(3)
     |                           ^~~~
machine.distal:8:13: error: a grid has at least one dimension: grid(4)
   8 | machine E = grid()
     |             ^~~~
machine.distal:9:13: error: expected 'grid(...)' or a level and its grid, such as 'node grid(2, 2)', found '4'
   9 | machine F = 4
     |             ^
machine.distal:10:17: error: expected 'grid(...)', found end of line
  10 | machine G = node
     |                 ^
machine.distal:11:54: error: a machine has at most 12 dimensions
  11 | machine H = grid(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
     |                                                      ^
machine.distal:12:9: error: machine 'I' has more than 2147483647 processors
  12 | machine I = grid(4000000000, 4000000000)
     |         ^
machine.distal:13:21: error: expected the end of the line, found 'gpu'
  13 | machine J = grid(2) gpu
     |                     ^~~
machine.distal:14:9: error: expected the name of a machine, but 'tensor' is a reserved word
  14 | machine tensor = grid(2)
     |         ^~~~~~
machine.distal:15:70: error: machine 'K' has level 'node' twice
  15 | machine K = node grid(1), socket grid(1), core grid(1), gpu grid(1), node grid(1)
     |                                                                      ^~~~
machine.distal:16:13: error: unknown level 'board' of a machine (levels: node socket core gpu)
  16 | machine L = board grid(1), socket grid(1), core grid(1), gpu grid(1), node grid(1)
     |             ^~~~~
machine.distal:17:9: error: 'n' is already declared as a param; choose another name
  17 | machine n = grid(2)
     |         ^
machine.distal:1:7: note: it is declared here
   1 | param n = 0
     |       ^
