# run: plan --machine m.machine {file}
--- program
# What a sparse tensor stores is not known.
param n = 1000
tensor A(n, n): f64, csr
tensor x(n): f64
tensor y(n): f64
y(i) = A(i, j) * x(j)
--- file m.machine
machine "a small one"
level node 4 memory 64GiB copy 100GB/s latency 2us bandwidth 1KiB:1GB/s 1MiB:10GB/s link 12GB/s
level core 2 copy 20GB/s latency 0.5us bandwidth 5GB/s
rate gemm 16:1GFLOP/s 1024:16GFLOP/s
rate loops 2GFLOP/s
--- stdout
machine_unknown.distal on 1 rank
predicted for a small one: 1 rank in a node, of 2 threads

y(i) = A(i, j) * x(j)
  at most 16000 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored
  A       local    -       1           0 B        0 B             0      0 B      0 B        ?
  x       local    -       1           0 B        0 B             0   8000 B      0 B        -
  y       local    -       1           0 B        0 B             0   8000 B      0 B        -
  The memory of A is not counted: what is stored is known once it is given or computed.
  predicted: not known, as it depends on entries that are not
