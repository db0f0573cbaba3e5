# Prefetches of rows of D are in no loop over blocks of k, and no part of the sum of it.
# run: explain {file} --stop-after loops:prefetch
--- program
param n = 1, m = 1
tensor A(n, 1): f64
tensor B(n, n): f64
tensor D(m, 1): f64, order(1, 0)
tensor E(1, 1): f64, dcsr
A(i, j) = B(i, k) * D(l, p) * E(p, j)
--- stdout
# REDUCE_A: reduce A[:, :]
# FETCH_B: fetch B[:, :]
# FETCH_D: fetch D[:, :]
# FETCH_E: fetch E[:, :]
for each processor (), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    start FETCH_B
    start FETCH_D
    start FETCH_E
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
    D = wait FETCH_D with D_lo1 = lo[1], D_stride1 = stride[1], D_lo0 = lo[0]
    E = wait FETCH_E with E_count1 = levels[0].position_count, E_pos1 = levels[0].arrays[0], E_crd1 = levels[0].arrays[1], E_pos2 = levels[1].arrays[0], E_crd2 = levels[1].arrays[1]
    leaf where active && A:  # loops: 'E' is sparse
        let E_crd1_prefetch_end = distal_prefetch_end_i32(&E_crd1[0], E_count1, D_stride1 * 8, 32)
        let E_begin1 = E_pos1[0]
        let E_end1 = E_pos1[1]
        let k_blocks_end = max(0, n) / 4 * 4
        team, each thread with A_own for A:
            for E_p1 in E_begin1 .. E_end1:  # threads, uneven
                let p = E_crd1[E_p1]
                let E_begin2 = E_pos2[E_p1]
                let E_end2 = E_pos2[E_p1 + 1]
                for l_strip in 0 .. max(0, m) / 32 * 32 by 32:
                    if E_p1 < E_crd1_prefetch_end:
                        let p_prefetched = E_crd1[E_p1 + 16]
                        distal_prefetch(&D[(p_prefetched - D_lo1) * D_stride1 + l_strip - D_lo0], 256)
                for l_strip in max(0, m) / 32 * 32 .. max(0, m) / 8 * 8 by 8:
                    if E_p1 < E_crd1_prefetch_end:
                        let p_prefetched = E_crd1[E_p1 + 32]
                        distal_prefetch(&D[(p_prefetched - D_lo1) * D_stride1 + l_strip - D_lo0], 64)
                for l_strip in 0 .. max(0, m) / 32 * 32 by 32:
                    if E_p1 < E_crd1_prefetch_end:
                        let p_prefetched = E_crd1[E_p1 + 16]
                        distal_prefetch(&D[(p_prefetched - D_lo1) * D_stride1 + l_strip - D_lo0], 256)
                for l_strip in max(0, m) / 32 * 32 .. max(0, m) / 8 * 8 by 8:
                    if E_p1 < E_crd1_prefetch_end:
                        let p_prefetched = E_crd1[E_p1 + 32]
                        distal_prefetch(&D[(p_prefetched - D_lo1) * D_stride1 + l_strip - D_lo0], 64)
                for E_p2 in E_begin2 .. E_end2:  # distinct
                    let j = E_crd2[E_p2]
                    let E_value: f64 = m > 0 && k_blocks_end > 0 && n > 0 ? E[E_p2] : 0.0
                    let E_value_2: f64 = m > 0 && k_blocks_end < n && n > 0 ? E[E_p2] : 0.0
                    for i in 0 .. n:  # distinct
                        workspace sum
                        for k in 0 .. k_blocks_end by 4:  # sum sum
                            let B_value: f64 = m > 0 ? B[(i - B_lo0) * B_stride0 + k - B_lo1] : 0.0
                            let B_value_2: f64 = m > 0 ? B[(i - B_lo0) * B_stride0 + (k + 1) - B_lo1] : 0.0
                            let B_value_3: f64 = m > 0 ? B[(i - B_lo0) * B_stride0 + (k + 2) - B_lo1] : 0.0
                            let B_value_4: f64 = m > 0 ? B[(i - B_lo0) * B_stride0 + (k + 3) - B_lo1] : 0.0
                            let l_strips_end = max(0, m) / 32 * 32
                            for l_strip in 0 .. l_strips_end by 32:
                                for l_in in 0 .. 32:  # vector, sum sum
                                    let l = l_strip + l_in
                                    sum += B_value * D[(p - D_lo1) * D_stride1 + l - D_lo0] * E_value + B_value_2 * D[(p - D_lo1) * D_stride1 + l - D_lo0] * E_value + B_value_3 * D[(p - D_lo1) * D_stride1 + l - D_lo0] * E_value + B_value_4 * D[(p - D_lo1) * D_stride1 + l - D_lo0] * E_value
                            let l_strips_end_2 = max(0, m) / 8 * 8
                            for l_strip in l_strips_end .. l_strips_end_2 by 8:
                                for l_in in 0 .. 8:  # vector, sum sum
                                    let l = l_strip + l_in
                                    sum += B_value * D[(p - D_lo1) * D_stride1 + l - D_lo0] * E_value + B_value_2 * D[(p - D_lo1) * D_stride1 + l - D_lo0] * E_value + B_value_3 * D[(p - D_lo1) * D_stride1 + l - D_lo0] * E_value + B_value_4 * D[(p - D_lo1) * D_stride1 + l - D_lo0] * E_value
                            if l_strips_end_2 < m:
                                for l in l_strips_end_2 .. m:  # vector, sum sum
                                    sum += B_value * D[(p - D_lo1) * D_stride1 + l - D_lo0] * E_value + B_value_2 * D[(p - D_lo1) * D_stride1 + l - D_lo0] * E_value + B_value_3 * D[(p - D_lo1) * D_stride1 + l - D_lo0] * E_value + B_value_4 * D[(p - D_lo1) * D_stride1 + l - D_lo0] * E_value
                        for k in k_blocks_end .. n:  # sum sum
                            let B_value: f64 = m > 0 ? B[(i - B_lo0) * B_stride0 + k - B_lo1] : 0.0
                            let l_strips_end = max(0, m) / 32 * 32
                            for l_strip in 0 .. l_strips_end by 32:
                                for l_in in 0 .. 32:  # vector, sum sum
                                    let l = l_strip + l_in
                                    sum += B_value * D[(p - D_lo1) * D_stride1 + l - D_lo0] * E_value_2
                            let l_strips_end_2 = max(0, m) / 8 * 8
                            for l_strip in l_strips_end .. l_strips_end_2 by 8:
                                for l_in in 0 .. 8:  # vector, sum sum
                                    let l = l_strip + l_in
                                    sum += B_value * D[(p - D_lo1) * D_stride1 + l - D_lo0] * E_value_2
                            if l_strips_end_2 < m:
                                for l in l_strips_end_2 .. m:  # vector, sum sum
                                    sum += B_value * D[(p - D_lo1) * D_stride1 + l - D_lo0] * E_value_2
                        A_own[(i - A_lo0) * A_stride0 + j - A_lo1] += sum
    release FETCH_E
    release FETCH_D
    release FETCH_B
    reduce REDUCE_A
