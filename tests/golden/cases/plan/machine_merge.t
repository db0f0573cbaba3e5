# run: plan --machine m.machine --in A=sparse:1:3000 --in B=sparse:2:5000 {file}
# Each entry of A and B is visited once where both are merged; in the triangles of a graph, how often is not said.
--- program
param n = 100
tensor A(n, n): f64, csr
tensor B(n, n): f64, csr
tensor C(n, n): f64, csr
tensor d(n): f64
tensor e: f64
C(i, j) = A(i, j) + B(i, j)
d(i) = A(i, j) * B(i, j)
e = A(i, j) * A(j, k) * A(i, k)
--- file m.machine
machine "a small one"
level node 4 memory 64GiB copy 100GB/s latency 2us bandwidth 1KiB:1GB/s 1MiB:10GB/s link 12GB/s
level core 1 copy 20GB/s latency 0.5us bandwidth 5GB/s
rate gemm 16:1GFLOP/s 1024:16GFLOP/s
rate loops 2GFLOP/s
rate merge 10MFLOP/s
--- stdout
machine_merge.distal on 1 rank
predicted for a small one: 1 rank in a node, of 1 thread

C(i, j) = A(i, j) + B(i, j)
  at most 79872 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored
  A       local    -       1           0 B        0 B             0  31504 B      0 B     2558
  B       local    -       1           0 B        0 B             0  47560 B      0 B     3896
  C       local    -       1           0 B        0 B             0      0 B      0 B        ?
  The memory of C is not counted: what is stored is known once it is given or computed.
  It is estimated that C gets 5400 entries, 64824 B with their coordinates.
  predicted: 646 us: computing 646 us, memory 10.4 us, network 0 us, disk 0 us; 10.4 us of these at the same time as others; computing takes 100%

d(i) = A(i, j) * B(i, j)
  at most 79872 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored
  A       local    -       1           0 B        0 B             0  31504 B      0 B     2558
  B       local    -       1           0 B        0 B             0  47560 B      0 B     3896
  d       local    -       1           0 B        0 B             0    800 B      0 B        -
  predicted: 646 us: computing 646 us, memory 4.07 us, network 0 us, disk 0 us; 4.03 us of these at the same time as others; computing takes 100%

e = A(i, j) * A(j, k) * A(i, k)
  at most 79872 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored
  A       local    -       1           0 B        0 B             0  31504 B      0 B     2558
  e       local    -       1           0 B        0 B             0      8 B      0 B        -
  predicted: 27.3 us: computing 27.3 us, memory 4.73 us, network 0 us, disk 0 us; 4.73 us of these at the same time as others; computing takes 100%

all statements
  0 B in 0 messages; at most 79872 B of memory in a rank
  predicted: 1.32 ms
