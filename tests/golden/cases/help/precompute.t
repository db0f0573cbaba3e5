# run: help precompute
--- program
tensor a: f64
--- stdout
precompute(EXPR, {i, ...}, {w, ...}, W)
  EXPR, an operand or factors of a product, is computed ahead into a workspace W(i, ...), in loops w, ...; its other variables are summed there
