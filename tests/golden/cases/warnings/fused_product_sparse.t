# A product of sparse tensors, whose order has sparse workspaces.
# run: check {file}
--- program
param n = 300
machine M = grid(2)
tensor A(n, n): f64
tensor B(n, n): f64, csr
tensor C(n, n): f64, csr
tensor D(n, n): f64
place A(x, y) -> M(x)
A(i, l) = B(i, j) * C(j, k) * D(k, l)
schedule A {
  distribute({i}, {io}, {ii}, M)
}
--- stderr
fused_product_sparse.distal:8:1: warning: this product takes 6.9e+07 operations in one loop nest, and 4.3e+06 with fewer factors at a time [-Wfused-product]
   8 | A(i, l) = B(i, j) * C(j, k) * D(k, l)
     | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
fused_product_sparse.distal:8:1: note: begin its schedule with: precompute(C(j, k) * D(k, l), {j, l}, {j, l}, W, {compressed, dense})
   8 | A(i, l) = B(i, j) * C(j, k) * D(k, l)
     | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
