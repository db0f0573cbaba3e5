# A row of C for each entry of a row of B: in blocks of columns, whose sums stay in registers.
# run: explain --stop-after loops:registers {file}
--- program
param n = 300, m = 200, r = 50
tensor A(n, r): f32
tensor B(n, m): f32, csr
tensor C(m, r): f32
A(i, k) = B(i, j) * C(j, k)
--- stdout
# REDUCE_A: reduce A[:, :]
# FETCH_B: fetch B[:, :]
# FETCH_C: fetch C[:, :]
for each processor (), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    start FETCH_B
    start FETCH_C
    B = wait FETCH_B with B_lo0 = lo[0], B_extent0 = extent[0], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1]
    C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    leaf where active && A:  # loops: 'B' is sparse
        for i in 0 .. n:  # distinct, threads, uneven, work 16 * n * r
            let B_p1 = i - B_lo0
            let B_begin2 = B_pos2[B_p1]
            let B_end2 = B_pos2[B_p1 + 1]
            let k_blocks_end = max(0, r) / 64 * 64
            for k_block in 0 .. k_blocks_end by 64:
                workspace A_block[64] = 0
                for B_p2 in B_begin2 .. B_end2:
                    let j = B_crd2[B_p2]
                    let B_value: f32 = B[B_p2]
                    for k_in in 0 .. 64:  # distinct, vector
                        let k = k_block + k_in
                        A_block[k_in] += B_value * C[(j - C_lo0) * C_stride0 + k - C_lo1]
                for k_in in 0 .. 64:  # distinct, vector
                    let k = k_block + k_in
                    A[(i - A_lo0) * A_stride0 + k - A_lo1] = A_block[k_in]
            let k_blocks_end_2 = max(0, r) / 16 * 16
            for k_block in k_blocks_end .. k_blocks_end_2 by 16:
                workspace A_block[16] = 0
                for B_p2 in B_begin2 .. B_end2:
                    let j = B_crd2[B_p2]
                    let B_value: f32 = B[B_p2]
                    for k_in in 0 .. 16:  # distinct, vector
                        let k = k_block + k_in
                        A_block[k_in] += B_value * C[(j - C_lo0) * C_stride0 + k - C_lo1]
                for k_in in 0 .. 16:  # distinct, vector
                    let k = k_block + k_in
                    A[(i - A_lo0) * A_stride0 + k - A_lo1] = A_block[k_in]
            if k_blocks_end_2 < r:
                workspace A_block[16] = 0
                for B_p2 in B_begin2 .. B_end2:
                    let j = B_crd2[B_p2]
                    let B_value: f32 = B[B_p2]
                    for k_in in 0 .. 16:  # distinct, vector
                        let k = k_blocks_end_2 + k_in
                        A_block[k_in] += k < r ? B_value * C[(j - C_lo0) * C_stride0 + k - C_lo1] : 0.0F
                for k in k_blocks_end_2 .. r:  # distinct, vector
                    A[(i - A_lo0) * A_stride0 + k - A_lo1] = A_block[k - k_blocks_end_2]
    release FETCH_C
    release FETCH_B
    reduce REDUCE_A
