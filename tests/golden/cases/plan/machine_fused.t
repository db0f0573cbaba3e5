# run: plan {file} --in B=rmat:1:6:300 --machine m.machine
# Loops over fused modes and positions are no extents of what a step uses.
--- program
param n = 64
machine M = grid(4)
tensor y(n): f64
tensor B(n, n): f64, csr
tensor x(n): f64
place y(x0) -> M(x0)
place B(x0, x1) -> M(~fuse(x0, x1))
place x(x0) -> M(x0)
y(i) = B(i, j) * x(j)
--- file m.machine
machine "a small one"
level node 4 memory 64GiB copy 100GB/s latency 2us bandwidth 1KiB:1GB/s 1MiB:10GB/s link 12GB/s
level core 2 copy 20GB/s latency 0.5us bandwidth 5GB/s
rate gemm 16:1GFLOP/s 1024:16GFLOP/s
rate loops 2GFLOP/s
--- stdout
machine_fused.distal on 4 ranks
predicted for a small one: 2 ranks in a node, of 1 thread

y(i) = B(i, j) * x(j)
  at most 2056 B of memory in a rank

                                       moved      moved      messages     home  buffers  entries    entries
  tensor  pattern  at    steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance
  y       reduce   ijpo      1         160 B      368 B             2    128 B    296 B        -          -
  B       local    ijpo      1           0 B        0 B             0    876 B      0 B      207      1.005
  x       gather   ijpo      1         192 B      664 B             3    128 B    736 B        -          -
  predicted: 13.5 us: computing 0.555 us, memory 0.142 us, network 12.9 us, disk 0 us; 0.0726 us of these at the same time as others; network takes 95%
