# Sources that are none.
# run: run {file} --in B=random:x
# status: 2
--- program
machine M = grid(2)
tensor A(4): f64
tensor B(4): f64
place A(x) -> M(x)
place B(x) -> M(x)
A(i) = B(i)
--- stderr
distal: error: the seed in 'random:x', the source of B, is not an integer from 0 to 18446744073709551615
