# run: explain --stop-after loops:addresses {file}
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
    leaf where active && A:  # loops: too few loops
        let ii_end = min(n_per_p, n - io * n_per_p)
        let ii_blocks_end = max(0, ii_end) / 4 * 4
        for ii in 0 .. ii_blocks_end by 4:  # distinct, permutable, threads, work ii_end * m
            let i = io * n_per_p + ii
            workspace sum
            let i_2 = io * n_per_p + (ii + 1)
            workspace sum_2
            let i_3 = io * n_per_p + (ii + 2)
            workspace sum_3
            let i_4 = io * n_per_p + (ii + 3)
            workspace sum_4
            let B_at = (i - B_lo0) * B_stride0 - B_lo1
            let B_at_2 = (i_2 - B_lo0) * B_stride0 - B_lo1
            let B_at_3 = (i_3 - B_lo0) * B_stride0 - B_lo1
            let B_at_4 = (i_4 - B_lo0) * B_stride0 - B_lo1
            for j in 0 .. m:  # permutable, vector, sum sum, sum sum_2, sum sum_3, sum sum_4
                sum += B[B_at + j] * c[j - c_lo0] + c[j - c_lo0]
                sum_2 += B[B_at_2 + j] * c[j - c_lo0] + c[j - c_lo0]
                sum_3 += B[B_at_3 + j] * c[j - c_lo0] + c[j - c_lo0]
                sum_4 += B[B_at_4 + j] * c[j - c_lo0] + c[j - c_lo0]
            A[i - A_lo0] += sum
            A[i_2 - A_lo0] += sum_2
            A[i_3 - A_lo0] += sum_3
            A[i_4 - A_lo0] += sum_4
        for ii in ii_blocks_end .. ii_end:  # distinct, permutable
            let i = io * n_per_p + ii
            workspace sum
            let B_at = (i - B_lo0) * B_stride0 - B_lo1
            for j in 0 .. m:  # permutable, vector, sum sum
                sum += B[B_at + j] * c[j - c_lo0] + c[j - c_lo0]
            A[i - A_lo0] += sum
    release FETCH_c
    release FETCH_B
    reduce REDUCE_A
