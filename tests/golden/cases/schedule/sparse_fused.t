# run: schedule {file} -n 3 --in B=B.tns --machine m.machine
# Most entries are in one slice.
--- program
tensor A(9, 4): f64
tensor B(9, 8, 7): f64, csf
tensor C(8, 4): f64
tensor D(7, 4): f64
A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
--- file B.tns
1 1 1 1
2 1 1 1
2 1 2 1
2 2 1 1
2 2 7 1
2 3 3 1
2 4 3 1
2 5 3 1
2 6 3 1
9 8 7 1
--- file m.machine
machine "slow processors"
level node 4 memory 64GiB copy 10GB/s latency 1ns bandwidth 100GB/s
rate gemm 1GFLOP/s
rate sparse 0.01GFLOP/s
overhead 1ns
--- stdout
# sparse_fused.distal on 3 ranks: 1.4 us, at most 1004 B of memory in a rank
#
# A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
#     time  moved  messages  memory  computed on                  data moves
#   1.4 us  288 B         4  1004 B  grid(3) over ~fuse(i, j, k)  at once
#  1.39 us  416 B         2   812 B  grid(3) over weighted(k)     at once
#  1.41 us  384 B         2   820 B  grid(3) over weighted(j)     at once
#  1.69 us  288 B         4   952 B  grid(3) over ~fuse(i, j)     at once
#  2.01 us  520 B         9  1224 B  grid(3) over j               A, C, D in chunks of 2 of l
#  2.04 us  328 B         5  1320 B  grid(3) over j               at once
#  2.32 us  272 B         3  1000 B  grid(2) over j               A, D in chunks of 2 of l
#  2.32 us  176 B         2  1332 B  grid(2) over j               at once

machine M = grid(3)
tensor A(9, 4): f64
tensor B(9, 8, 7): f64, {compressed, compressed, compressed}
tensor C(8, 4): f64
tensor D(7, 4): f64
place A(x0, x1) -> M(x0)
place B(x0, x1, x2) -> M(~fuse(x0, x1, x2))
place C(x0, x1) -> M(0)
place D(x0, x1) -> M(0)

A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
