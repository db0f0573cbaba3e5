# B moves in the outer loop and C in the inner one: the next of each starts when the current one has arrived.
# run: explain --stop-after loops:pipeline {file}
--- program
param n = 64, p = 2
machine M = grid(p)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x, y) -> M(x)
place B(x, y) -> M(y)
place C(x, y) -> M(x)
A(i, j) += B(i, k) * C(k, j)
schedule A {
  distribute({i}, {io}, {ii}, M)
  divide(k, ko, ki, p)
  split(j, jo, ji, 16)
  reorder({ko, jo, ii, ki, ji})
  communicate(B, ko)
  communicate({A, C}, jo)
}
--- stdout
# REDUCE_A: reduce A[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), jo * 16 : (jo + 1) * 16]
# FETCH_B: fetch B[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), ko * ceil_div(n, p) : (ko + 1) * ceil_div(n, p)]
# FETCH_C: fetch C[ko * ceil_div(n, p) : (ko + 1) * ceil_div(n, p), jo * 16 : (jo + 1) * 16]
for each processor (io), active:
    for ko in 0 .. p:
        B = fetch FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
        start next FETCH_B
        for jo in 0 .. ceil_div(n, 16):
            A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
            C = fetch FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
            start next FETCH_C
            leaf where active:  # gemm over ii, ji, ki
                let i = io * ceil_div(n, p)
                let j = jo * 16
                let k = ko * ceil_div(n, p)
                let ii_end = min(ceil_div(n, p), n - io * ceil_div(n, p))
                let ji_end = min(16, n - jo * 16)
                let ki_end = min(ceil_div(n, p), n - ko * ceil_div(n, p))
                if ii_end > 0 && ji_end > 0 && ki_end > 0:
                    distal_gemm_f64(ii_end, ji_end, ki_end, 1, &B[(i - B_lo0) * B_stride0 + k - B_lo1], B_stride0, 1, &C[(k - C_lo0) * C_stride0 + j - C_lo1], C_stride0, 1, &A[(i - A_lo0) * A_stride0 + j - A_lo1], A_stride0, 1)
            release FETCH_C
            reduce REDUCE_A
        release FETCH_B
