# Entries of sparse tensors do not move yet: neither those that are read, nor those that are computed.
# run: plan {file}
# status: 2
--- program
machine M = grid(2)
tensor B(8, 8): f64, csr
tensor x(8): f64
tensor y(8): f64
place B(i, j) -> M(j)
place y(i) -> M(i)
y(i) = B(i, j) * x(j)
schedule y { distribute({i}, {io}, {ii}, M) }
--- stderr
entries_elsewhere.distal:7:8: error: rank 0 uses entries of sparse tensor 'B' that are at home on other ranks, and moving entries is not supported yet; distribute the statement as the tensor is placed, or place it as that needs
   7 | y(i) = B(i, j) * x(j)
     |        ^~~~~~~
