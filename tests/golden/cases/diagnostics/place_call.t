# A way to divide a mode that there is not.
# run: check {file}
# status: 2
--- program
machine M = grid(2)
tensor A(8): f64
tensor B(8): f64
place A(x) -> M(balance(x))
place B(x) -> M(hash(x))
A(i) = B(i)
--- stderr
place_call.distal:4:17: error: unknown way to divide a mode, 'balance'; did you mean 'balanced'?
   4 | place A(x) -> M(balance(x))
     |                 ^~~~~~~
place_call.distal:5:17: error: unknown way to divide a mode, 'hash' (ways: cyclic balanced blocks weighted)
   5 | place B(x) -> M(hash(x))
     |                 ^~~~
