# Elements that entries name are requested from memory.
# run: plan {file}
# status: 2
--- program
machine M = grid(2)
tensor A(8): f64
tensor B(8, 8): f64, csr
tensor c(8): f64
place A(x) -> M(x) in disk
place B(x, y) -> M(x)
place c(x) -> M(x) in disk
A(i) = B(i, j) * c(j)
--- stderr
place_disk_indexed.distal:8:18: error: 'c' is in disk, and the entries of sparse tensor 'B' say which of its elements are used: place it in host
   8 | A(i) = B(i, j) * c(j)
     |                  ^~~~
