# Ranges of rows are computed while elements of C arrive: how far rows of C are prefetched is decided once, before the first range.
# run: explain --stop-after loops:prefetch {file}
--- program
param n = 1000, g = 2
machine M = grid(g)
tensor A(n, 32): f64
tensor B(n, n): f64, csr
tensor C(n, 32): f64
place A(i, k) -> M(i)
place B(i, j) -> M(i)
place C(j, k) -> M(j)
A(i, k) = B(i, j) * C(j, k)
--- stdout
# REDUCE_A: reduce A[io * ceil_div(n, g) : (io + 1) * ceil_div(n, g), :]
# FETCH_B: fetch B[io * ceil_div(n, g) : (io + 1) * ceil_div(n, g), :]
# FETCH_C: fetch C[:, :]
let n_per_g = ceil_div(n, g)
for each processor (io), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    start FETCH_B
    start FETCH_C
    B = wait FETCH_B with B_lo0 = lo[0], B_extent0 = extent[0], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1]
    C = view FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1], C_count1 = levels[0].position_count, C_crd1 = levels[0].arrays[0]
    let C_crd1_prefetch_end = distal_prefetch_end_i32(&C_crd1[0], C_count1, C_stride0 * 8, 32)
    for rows as FETCH_C arrives with begin = rows[0], end = rows[1]:
        leaf where active && A && B:  # loops: 'B' is sparse
            let ii_end = min(n_per_g, n - io * n_per_g)
            let ii_from = max(0, begin - io * n_per_g)
            let ii_to = max(ii_from, min(ii_end, end - io * n_per_g))
            for ii in ii_from .. ii_to:  # distinct, threads, uneven, work 16 * (ii_to - ii_from) * 32
                let i = io * n_per_g + ii
                let B_p1 = i - B_lo0
                let B_begin2 = B_pos2[B_p1]
                let B_end2 = B_pos2[B_p1 + 1]
                let k_blocks_end = 32
                for k_block in 0 .. k_blocks_end by 32:
                    workspace A_block[32] = 0
                    for B_p2 in B_begin2 .. B_end2:
                        let j = B_crd2[B_p2]
                        let C_at1 = C_crd1[B_p2]
                        let B_value: f64 = B[B_p2]
                        if B_p2 < C_crd1_prefetch_end:
                            let C_at1_prefetched = C_crd1[B_p2 + 16]
                            distal_prefetch(&C[(C_at1_prefetched - C_lo0) * C_stride0 + k_block - C_lo1], 256)
                        for k_in in 0 .. 32:  # distinct, vector
                            let k = k_block + k_in
                            A_block[k_in] += B_value * C[(C_at1 - C_lo0) * C_stride0 + k - C_lo1]
                    for k_in in 0 .. 32:  # distinct, vector
                        let k = k_block + k_in
                        A[(i - A_lo0) * A_stride0 + k - A_lo1] = A_block[k_in]
                let k_blocks_end_2 = 32
                for k_block in k_blocks_end .. k_blocks_end_2 by 8:
                    workspace A_block[8] = 0
                    for B_p2 in B_begin2 .. B_end2:
                        let j = B_crd2[B_p2]
                        let C_at1 = C_crd1[B_p2]
                        let B_value: f64 = B[B_p2]
                        if B_p2 < C_crd1_prefetch_end:
                            let C_at1_prefetched = C_crd1[B_p2 + 32]
                            distal_prefetch(&C[(C_at1_prefetched - C_lo0) * C_stride0 + k_block - C_lo1], 64)
                        for k_in in 0 .. 8:  # distinct, vector
                            let k = k_block + k_in
                            A_block[k_in] += B_value * C[(C_at1 - C_lo0) * C_stride0 + k - C_lo1]
                    for k_in in 0 .. 8:  # distinct, vector
                        let k = k_block + k_in
                        A[(i - A_lo0) * A_stride0 + k - A_lo1] = A_block[k_in]
                if k_blocks_end_2 < 32:
                    workspace A_block[8] = 0
                    for B_p2 in B_begin2 .. B_end2:
                        let j = B_crd2[B_p2]
                        let C_at1 = C_crd1[B_p2]
                        let B_value: f64 = B[B_p2]
                        if B_p2 < C_crd1_prefetch_end:
                            let C_at1_prefetched = C_crd1[B_p2 + 32]
                            distal_prefetch(&C[(C_at1_prefetched - C_lo0) * C_stride0 + k_blocks_end_2 - C_lo1], 64)
                        for k_in in 0 .. 8:  # distinct, vector
                            let k = k_blocks_end_2 + k_in
                            A_block[k_in] += k < 32 ? B_value * C[(C_at1 - C_lo0) * C_stride0 + k - C_lo1] : 0.0
                    for k in k_blocks_end_2 .. 32:  # distinct, vector
                        A[(i - A_lo0) * A_stride0 + k - A_lo1] = A_block[k - k_blocks_end_2]
    release FETCH_C
    release FETCH_B
    reduce REDUCE_A
