# run: run {file} --memory-limit 1M
# status: 1
--- program
tensor A(7, 5, 3): f64
tensor B(7, 4, 3): f64
tensor C(4, 5): f64
A(i, j, l) = B(i, k, l) * C(k, j)
--- stderr
distal: error: rank 0 needs 18.0 MiB of memory, more than the limit of 1.0 MiB
distal: note: rank 0 while it computes A: A 840 B at home; B 672 B at home; C 160 B at home; 18.0 MiB for blocks of a product
distal: note: less memory is needed if tensors are placed on more ranks, or are communicated in smaller pieces (split a loop and communicate inside it)
