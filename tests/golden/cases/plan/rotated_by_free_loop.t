# run: plan {file}
# Of C, each processor uses a quarter of the rows in each column, and another quarter in the next: a diagonal band.
--- program
param n = 1100
machine M = grid(4)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x, y) -> M(x)
place B(x, y) -> M(y)
place C(x, y) -> M(x)
A(i, j) = B(i, k) * C(k, j)
schedule A {
  reorder({j, i, k})
  rotate(k, {j}, kr)
  divide(kr, kro, kri, 4)
  reorder({kro, j, i, kri})
  distribute(kro)
}
--- stdout
rotated_by_free_loop.distal on 4 ranks

A(i, j) = B(i, k) * C(k, j)
  2662000000 flop; at most 34.6 MiB of memory in a rank

                                             moved      moved      messages     home  buffers
  tensor  pattern         at   steps  busiest rank  all ranks  busiest rank  largest  largest
  A       reduce-scatter  kro      1       6.9 MiB   27.7 MiB             3  2.3 MiB  9.2 MiB
  B       exchange        kro      1       6.9 MiB   27.7 MiB             3  2.3 MiB  9.2 MiB
  C       exchange        kro      1       1.7 MiB    6.9 MiB          1647  2.3 MiB  9.2 MiB
