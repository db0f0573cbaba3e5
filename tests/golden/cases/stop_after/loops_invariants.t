# run: explain --stop-after loops:invariants {file}
--- program
# Two operands, a sum over the innermost loop, blocks of rows.
param n = 300, m = 200, p = 2
machine M = grid(p)
tensor A(n): f64
tensor B(n, m): f64
tensor c(m): f64
place A(x) -> M(x)
place B(x, y) -> M(x)
A(i) = B(i, j) * c(j) + c(j)
--- stdout
# REDUCE_A: reduce A[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p)]
# FETCH_B: fetch B[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :]
# FETCH_c: fetch c[:]
let n_per_p = ceil_div(n, p)
for each processor (io), active:
    A = open REDUCE_A with A_lo0 = lo[0]
    start FETCH_B
    start FETCH_c
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
    c = wait FETCH_c with c_lo0 = lo[0]
    leaf where active:  # loops: too few loops
        let ii_end = min(n_per_p, n - io * n_per_p)
        for ii in 0 .. ii_end:  # distinct, permutable
            let i = io * n_per_p + ii
            for j in 0 .. m:  # permutable
                A[i - A_lo0] += B[(i - B_lo0) * B_stride0 + j - B_lo1] * c[j - c_lo0] + c[j - c_lo0]
    release FETCH_c
    release FETCH_B
    reduce REDUCE_A
