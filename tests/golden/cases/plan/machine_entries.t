# run: plan --machine m.machine --in A=A.mtx -p n=3 {file}
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
--- file A.mtx
%%MatrixMarket matrix coordinate real general
3 3 4
1 1 1
2 1 2
2 2 3
3 3 4
--- stdout
machine_entries.distal on 1 rank
predicted for a small one: 1 rank in a node, of 2 threads

y(i) = A(i, j) * x(j)
  at most 128 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored
  A       local    -       1           0 B        0 B             0     80 B      0 B        4
  x       local    -       1           0 B        0 B             0     24 B      0 B        -
  y       local    -       1           0 B        0 B             0     24 B      0 B        -
  predicted: 0.503 us: computing 0.502 us, memory 0.0042 us, network 0 us, disk 0 us; 0.0036 us of these at the same time as others; computing takes 100%
