# run: help precompute
--- program
tensor a: f64
--- stdout
precompute(EXPR, {i, ...}, {w, ...}, W[, FORMAT])
  EXPR, an operand or factors of a product, is computed ahead into a workspace W(i, ...), in loops
  w, ...; its other variables are summed there; FORMAT, such as csr, is how its entries are stored

example:
  # W is B times D, a library call over j, l and k for each i; what is left does not loop over k.
  tensor A(500, 400): f64
  tensor B(500, 600, 300): f64
  tensor C(600, 400): f64
  tensor D(300, 400): f64
  A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
  schedule A {
    precompute(B(i, j, k) * D(k, l), {i, j, l}, {i, j, l}, W)
    substitute({j, l, k}, gemm)
  }

loops before:
  forall(i) forall(l) forall(j) forall(k) A(i, l) += B(i, j, k) * C(j, l) * D(k, l)

loops after:
  forall(i) forall(l) forall(j) A(i, l) += W(i, j, l) * C(j, l) where
  forall(i) forall(j) forall(l) forall(k) W(i, j, l) += B(i, j, k) * D(k, l)
      s.t. substitute({j, l, k}, gemm)
