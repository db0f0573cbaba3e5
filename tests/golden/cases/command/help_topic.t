# Help about what there is not, but something like it.
# run: help communicat
# status: 2
--- program
machine M = grid(2)
tensor A(4): f64
tensor B(4): f64
place A(x) -> M(x)
place B(x) -> M(x)
A(i) = B(i)
--- stderr
distal: error: no help about 'communicat'; did you mean 'communicate'?
