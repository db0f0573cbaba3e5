# run: check {file}
# status: 2
--- program
# A word before '(' that is neither grid nor a level.
machine M = Grid(2, 2)
machine N = node Grid(2)
--- stderr
machine_word.distal:2:13: error: expected 'grid(...)' or a level and its grid, such as 'node grid(2, 2)', found 'Grid'
   2 | machine M = Grid(2, 2)
     |             ^~~~
machine_word.distal:3:18: error: expected 'grid(...)', found 'Grid'
   3 | machine N = node Grid(2)
     |                  ^~~~
