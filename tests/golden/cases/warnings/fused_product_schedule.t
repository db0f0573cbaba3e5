# No nest of the order in the note has both variables of a loop of the schedule.
# run: check {file}
--- program
param n = 300
machine M = grid(2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
tensor D(n, n): f64
place A(x, y) -> M(x)
A(i, l) = B(i, j) * C(j, k) * D(k, l)
schedule A {
  distribute({i}, {io}, {ii}, M)
  reorder({ii, k, l, j})
  collapse(ii, k, f)
}
--- stderr
fused_product_schedule.distal:8:1: warning: this product takes 2.4e+10 operations in one loop nest, and 1.1e+08 with fewer factors at a time [-Wfused-product]
   8 | A(i, l) = B(i, j) * C(j, k) * D(k, l)
     | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
fused_product_schedule.distal:8:1: note: begin its schedule, adapted to that, with: precompute(C(j, k) * D(k, l), {j, l}, {j, l}, W)
   8 | A(i, l) = B(i, j) * C(j, k) * D(k, l)
     | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
