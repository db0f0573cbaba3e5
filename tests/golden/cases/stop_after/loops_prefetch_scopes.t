# Nothing is prefetched for the second loop i: the first one, which sets W, has another definition of i in strips.
# run: explain {file} --stop-after loops:prefetch
--- program
param n = 6, m = 7
tensor A(n, 4, 5, m): f64
tensor B(n): f64
tensor C(4, 5): f64, csr
tensor v(m): f64
A(i, j, k, l) = B(i) * C(j, k) * v(l)
schedule A {
  precompute(B(i) * C(j, k), {i}, {i}, W)
}
--- stdout
# REDUCE_A: reduce A[:, :, :, :]
# FETCH_v: fetch v[:]
# FETCH_B: fetch B[:]
# FETCH_C: fetch C[:, :]
for each processor (), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1], A_stride1 = stride[1], A_lo2 = lo[2], A_stride2 = stride[2], A_lo3 = lo[3]
    start FETCH_v
    start FETCH_B
    start FETCH_C
    v = wait FETCH_v with v_lo0 = lo[0]
    B = wait FETCH_B with B_lo0 = lo[0]
    C = wait FETCH_C with C_lo0 = lo[0], C_extent0 = extent[0], C_pos2 = levels[1].arrays[0], C_crd2 = levels[1].arrays[1]
    leaf where active:  # loops: 'W' is filled and read in each iteration
        for j in 0 .. 4:  # distinct, threads, uneven, work 64 * n + 64 * n * m
            let C_p1 = j - C_lo0
            let C_begin2 = C_pos2[C_p1]
            let C_end2 = C_pos2[C_p1 + 1]
            for C_p2 in C_begin2 .. C_end2:  # distinct
                let k = C_crd2[C_p2]
                workspace W[n] = 0
                let C_value: f64 = n > 0 ? C[C_p2] : 0.0
                let i_strips_end = max(0, n) / 32 * 32
                for i_strip in 0 .. i_strips_end by 32:
                    for i_in in 0 .. 32:  # distinct, vector
                        let i = i_strip + i_in
                        W[i] += B[i - B_lo0] * C_value
                let i_strips_end_2 = max(0, n) / 8 * 8
                for i_strip in i_strips_end .. i_strips_end_2 by 8:
                    for i_in in 0 .. 8:  # distinct, vector
                        let i = i_strip + i_in
                        W[i] += B[i - B_lo0] * C_value
                for i in i_strips_end_2 .. n:  # distinct, vector
                    W[i] += B[i - B_lo0] * C_value
                for i in 0 .. n:  # distinct, permutable
                    let l_strips_end = max(0, m) / 32 * 32
                    for l_strip in 0 .. l_strips_end by 32:
                        for l_in in 0 .. 32:  # distinct, permutable, vector
                            let l = l_strip + l_in
                            A[(i - A_lo0) * A_stride0 + (j - A_lo1) * A_stride1 + (k - A_lo2) * A_stride2 + l - A_lo3] += W[i] * v[l - v_lo0]
                    let l_strips_end_2 = max(0, m) / 8 * 8
                    for l_strip in l_strips_end .. l_strips_end_2 by 8:
                        for l_in in 0 .. 8:  # distinct, permutable, vector
                            let l = l_strip + l_in
                            A[(i - A_lo0) * A_stride0 + (j - A_lo1) * A_stride1 + (k - A_lo2) * A_stride2 + l - A_lo3] += W[i] * v[l - v_lo0]
                    for l in l_strips_end_2 .. m:  # distinct, permutable, vector
                        A[(i - A_lo0) * A_stride0 + (j - A_lo1) * A_stride1 + (k - A_lo2) * A_stride2 + l - A_lo3] += W[i] * v[l - v_lo0]
    release FETCH_C
    release FETCH_B
    release FETCH_v
    reduce REDUCE_A
