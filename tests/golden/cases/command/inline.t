# A program on the command line, with its mistake.
# run: check -e 'tensor a: f64; a = b'
# status: 2
--- program
machine M = grid(2)
tensor A(4): f64
tensor B(4): f64
place A(x) -> M(x)
place B(x) -> M(x)
A(i) = B(i)
--- stderr
<command line>:1:20: error: unknown tensor 'b' (tensors: a)
   1 | tensor a: f64; a = b
     |                    ^
