# run: plan {file}
# Every fourth element in row-major order: in each row every fourth, from the first or from the third on.
--- program
param n = 1102
machine M = grid(4)
tensor A(n, n): f64
tensor B(n, n): f64
place A(x, y) -> M(x)
place B(x, y) -> M(y)
A(i, j) = B(i, j)
schedule A {
  collapse(i, j, f)
  split(f, fo, fi, 4)
  reorder({fi, fo})
  distribute(fi)
}
--- stdout
collapsed_periodic.distal on 4 ranks

A(i, j) = B(i, j)
  0 flop; at most 24.9 MiB of memory in a rank

                                      moved      moved      messages     home   buffers
  tensor  pattern   at  steps  busiest rank  all ranks  busiest rank  largest   largest
  A       reduce    fi      1       1.7 MiB    6.9 MiB             8  2.3 MiB  11.0 MiB
  B       exchange  fi      1       1.7 MiB    6.9 MiB            12  2.3 MiB   9.3 MiB
