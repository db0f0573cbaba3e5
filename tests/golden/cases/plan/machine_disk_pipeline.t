# Half of what is read ahead and written behind goes on while the rank computes.
# run: plan --machine m.machine --pipeline on {file}
--- program
param n = 24
machine M = grid(2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x, y) -> M(x) in disk
place B(x, y) -> M(x) in disk
place C(x, y) -> M(x) in disk
A(i, j) = B(i, k) * C(k, j)
schedule A {
  distribute(i, io, ii, M)
  split(ii, it, iii, 4)
  split(k, ko, ki, 8)
  reorder({it, ko, iii, j, ki})
  communicate(A, it)
  communicate({B, C}, ko)
}
--- file m.machine
machine "a small one with a disk"
level node 4 memory 8MiB copy 100GB/s latency 2us bandwidth 1KiB:1GB/s 1MiB:10GB/s link 12GB/s
level core 2 copy 20GB/s latency 0.5us bandwidth 5GB/s
rate gemm 16:1GFLOP/s 1024:16GFLOP/s
rate loops 2GFLOP/s
overlap 0.5
disk read 400MB/s
disk write 500MB/s
--- stdout
machine_disk_pipeline.distal on 2 ranks
predicted for a small one with a disk: 2 ranks in a node, of 1 thread

A(i, j) = B(i, k) * C(k, j)
  27648 flop; at most 5120 B of memory in a rank

                                       moved      moved      messages     home  buffers
  tensor  pattern    at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local      it      3           0 B        0 B             0   2304 B   1536 B
  B       local      ko      9           0 B        0 B             0   2304 B    512 B
  C       broadcast  ko      9        6912 B    13824 B             6   2304 B   3072 B
  A is in disk: the busiest rank reads nothing and writes 2304 B in 3 runs
  B is in disk in tiles of 4 x 8: the busiest rank reads 2304 B in 9 runs and writes nothing
  C is in disk: the busiest rank reads 6912 B in 6 runs and writes nothing
  predicted: 79.6 us: computing 19.1 us, memory 0 us, network 14.8 us, disk 55.3 us; 9.53 us of these at the same time as others; disk takes 69%
  moved by the busiest rank: 6912 B, and read and written 11520 B; by any schedule at least 8709 B: the sides of I J K / P products, less what is at home; I = 24, J = 24, K = 24, P = 2
