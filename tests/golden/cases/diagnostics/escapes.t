# run: check {file}
# status: 2
# The caret stands below what it shows, whatever stands before it.
--- program
tensor A(3): f64
# ]0;title ‮
	A(i)[31m = q(i) # é
--- stderr
escapes.distal:3:6: error: unexpected control character 0x1b
   3 | 	A(i)\x1b[31m = \x7fq(i) # é
     | 	    ^~~~
escapes.distal:3:7: error: unexpected '['; indices are written in parentheses, B(i, j)
   3 | 	A(i)\x1b[31m = \x7fq(i) # é
     | 	        ^
escapes.distal:3:8: error: '31m' is neither a number nor a name (numbers: 2, 0.5, 1e-3, 2i; a name begins with a letter)
   3 | 	A(i)\x1b[31m = \x7fq(i) # é
     | 	         ^~~
escapes.distal:3:14: error: unexpected control character 0x7f
   3 | 	A(i)\x1b[31m = \x7fq(i) # é
     | 	               ^~~~
