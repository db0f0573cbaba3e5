# Both outer loops are shared by threads, as there is another loop inside for vectors.
# run: explain --stop-after loops:vectors {file}
--- program
param n = 3, m = 200, q = 100
tensor A(n, m, q): f64
tensor B(n, m, q): f64
tensor c(q): f64
A(i, j, k) = B(i, j, k) / c(k)
--- stdout
# REDUCE_A: reduce A[:, :, :]
# FETCH_B: fetch B[:, :, :]
# FETCH_c: fetch c[:]
for each processor (), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1], A_stride1 = stride[1], A_lo2 = lo[2]
    start FETCH_B
    start FETCH_c
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1], B_stride1 = stride[1], B_lo2 = lo[2]
    c = wait FETCH_c with c_lo0 = lo[0]
    leaf where active:  # loops: nothing is summed
        for i in 0 .. n:  # distinct, permutable, threads, collapse 2, work n * m * q
            for j in 0 .. m:  # distinct, permutable
                for k in 0 .. q:  # distinct, permutable, vector
                    A[(i - A_lo0) * A_stride0 + (j - A_lo1) * A_stride1 + k - A_lo2] = B[(i - B_lo0) * B_stride0 + (j - B_lo1) * B_stride1 + k - B_lo2] / c[k - c_lo0]
    release FETCH_c
    release FETCH_B
    reduce REDUCE_A
