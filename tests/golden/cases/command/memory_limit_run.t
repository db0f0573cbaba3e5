# A run that would take more than the limit is not started. Its copy of A is made as A is accumulated into twice.
# run: run {file} -n 3 --check --repeat=2 --memory-limit=1M
# status: 1
--- program
machine M = grid(ranks)
tensor A(50000): f64
tensor B(50000): f64
place A(x) -> M(x)
place B(x) -> M(0)
A(i) += B(i)
--- stderr
distal: error: rank 0 needs 1.4 MiB of memory, more than the limit of 1.0 MiB
distal: note: rank 0 while it computes A: A 133336 B at home; B 400000 B at home; 800000 B for whole tensors that --check gathers; 133336 B for a copy of A, which every execution restores
distal: note: without --check, no rank would need more than 666672 B
