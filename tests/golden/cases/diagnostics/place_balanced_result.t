# The entries of a result are known when it has been computed.
# run: check {file}
# status: 2
--- program
machine M = grid(2)
tensor A(8, 8): f64, csr; tensor B(8, 8): f64, csr; tensor C(8, 8): f64, csr
place A(x, y) -> M(~x)
A(i, j) = B(i, k) * C(k, j)
--- stderr
place_balanced_result.distal:3:20: error: which entries 'A' has is known only when it has been computed; partition it by coordinates, or by the entries of an operand B: 'weighted(x, B)'
   3 | place A(x, y) -> M(~x)
     |                    ^~
