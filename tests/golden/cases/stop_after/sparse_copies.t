# Rows of a sparse operand that add to the same elements: threads share the rows, and each adds to a copy of the result.
# run: explain {file} --stop-after loops
--- program
param n = 100
tensor B(n, n): f64, csr
tensor x(n): f64
tensor y(n): f64
tensor T(n, n, n): f64, csf
tensor C(n, 40): f64
tensor D(n, 40): f64
tensor A(n, 40): f64
y(j) = B(i, j) * x(i)
A(k, l) = T(i, j, k) * C(i, l) * D(j, l)
--- stdout
# REDUCE_y: reduce y[:]
# FETCH_B: fetch B[:, :]
# FETCH_x: fetch x[:]
for each processor (), active:
    y = open REDUCE_y with y_lo0 = lo[0]
    start FETCH_B
    start FETCH_x
    B = wait FETCH_B with B_lo0 = lo[0], B_extent0 = extent[0], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1]
    x = wait FETCH_x with x_lo0 = lo[0]
    leaf where active && y:  # loops: 'B' is sparse
        let i_work = distal_work(&B_pos2[-B_lo0], n, 1)
        let i_portions = distal_portions(&B_pos2[-B_lo0], n, i_work)
        let i_shared = distal_shared_portions(&B_pos2[-B_lo0], n, i_portions, i_work)
        team, each thread with y_own for y:
            for i_portion in -i_shared .. 0:
                let i_begin = distal_portion_begin(&B_pos2[-B_lo0], n, i_portions, i_shared, i_portion)
                let i_end = distal_portion_end(&B_pos2[-B_lo0], n, i_portions, i_shared, i_portion)
                for i in i_begin .. i_end:
                    let B_p1 = i - B_lo0
                    let B_begin2 = B_pos2[B_p1]
                    let B_end2 = B_pos2[B_p1 + 1]
                    let x_value: f64 = B_begin2 < B_end2 ? x[i - x_lo0] : 0.0
                    for B_p2 in B_begin2 .. B_end2:  # threads, vector
                        let j = B_crd2[B_p2]
                        y_own[j - y_lo0] += B[B_p2] * x_value
            for i_portion in 0 .. i_portions:  # threads, portions, work i_work
                let i_begin = distal_portion_begin(&B_pos2[-B_lo0], n, i_portions, i_shared, i_portion)
                let i_end = distal_portion_end(&B_pos2[-B_lo0], n, i_portions, i_shared, i_portion)
                for i in i_begin .. i_end:
                    let B_p1 = i - B_lo0
                    let B_begin2 = B_pos2[B_p1]
                    let B_end2 = B_pos2[B_p1 + 1]
                    let x_value: f64 = B_begin2 < B_end2 ? x[i - x_lo0] : 0.0
                    for B_p2 in B_begin2 .. B_end2:  # distinct, vector
                        let j = B_crd2[B_p2]
                        y_own[j - y_lo0] += B[B_p2] * x_value
    release FETCH_x
    release FETCH_B
    reduce REDUCE_y

# REDUCE_A: reduce A[:, :]
# FETCH_T: fetch T[:, :, :]
# FETCH_C: fetch C[:, :]
# FETCH_D: fetch D[:, :]
for each processor (), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    start FETCH_T
    start FETCH_C
    start FETCH_D
    T = wait FETCH_T with T_count1 = levels[0].position_count, T_count2 = levels[1].position_count, T_count3 = levels[2].position_count, T_pos1 = levels[0].arrays[0], T_crd1 = levels[0].arrays[1], T_pos2 = levels[1].arrays[0], T_crd2 = levels[1].arrays[1], T_pos3 = levels[2].arrays[0], T_crd3 = levels[2].arrays[1]
    C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    D = wait FETCH_D with D_lo0 = lo[0], D_stride0 = stride[0], D_lo1 = lo[1]
    leaf where active && A:  # loops: 'T' is sparse
        let T_crd3_prefetch_end = distal_prefetch_end_i32(&T_crd3[0], T_count3, A_stride0 * 8, 12)
        let T_crd2_prefetch_end = distal_prefetch_end_i32(&T_crd2[0], T_count2, D_stride0 * 8, 12)
        let T_crd1_prefetch_end = distal_prefetch_end_i32(&T_crd1[0], T_count1, C_stride0 * 8, 12)
        let T_begin1 = T_pos1[0]
        let T_end1 = T_pos1[1]
        let work = distal_work(&T_pos2[T_begin1], T_end1 - T_begin1, 640)
        let portions = distal_portions(&T_pos2[T_begin1], T_end1 - T_begin1, work)
        let shared = distal_shared_portions(&T_pos2[T_begin1], T_end1 - T_begin1, portions, work)
        team, each thread with A_own for A:
            for portion in -shared .. 0:
                let begin = distal_portion_begin(&T_pos2[T_begin1], T_end1 - T_begin1, portions, shared, portion)
                let end = distal_portion_end(&T_pos2[T_begin1], T_end1 - T_begin1, portions, shared, portion)
                for T_p1 in T_begin1 + begin .. T_begin1 + end:
                    let i = T_crd1[T_p1]
                    let T_begin2 = T_pos2[T_p1]
                    let T_end2 = T_pos2[T_p1 + 1]
                    if T_p1 < T_crd1_prefetch_end:
                        let i_prefetched = T_crd1[T_p1 + 12]
                        distal_prefetch(&C[(i_prefetched - C_lo0) * C_stride0 - C_lo1], 320)
                    let C_at = (i - C_lo0) * C_stride0 - C_lo1
                    for T_p2 in T_begin2 .. T_end2:  # threads
                        let j = T_crd2[T_p2]
                        let T_begin3 = T_pos3[T_p2]
                        let T_end3 = T_pos3[T_p2 + 1]
                        if T_p2 < T_crd2_prefetch_end:
                            let j_prefetched = T_crd2[T_p2 + 12]
                            distal_prefetch(&D[(j_prefetched - D_lo0) * D_stride0 - D_lo1], 320)
                        let D_at = (j - D_lo0) * D_stride0 - D_lo1
                        for T_p3 in T_begin3 .. T_end3:  # distinct
                            let k = T_crd3[T_p3]
                            let T_value: f64 = T[T_p3]
                            if T_p3 < T_crd3_prefetch_end:
                                let k_prefetched = T_crd3[T_p3 + 12]
                                distal_prefetch(&A_own[(k_prefetched - A_lo0) * A_stride0 - A_lo1], 320)
                            let A_own_at = (k - A_lo0) * A_stride0 - A_lo1
                            for l in 0 .. 40:  # distinct, vector
                                A_own[A_own_at + l] += T_value * C[C_at + l] * D[D_at + l]
            let T_p1_ranges = distal_ranges_i32(&T_pos2[T_begin1], T_end1 - T_begin1, &T_crd2[0], D_stride0 * 8, T_crd2_prefetch_end)
            let T_p1_portions = distal_ranged_portions(portions, T_p1_ranges)
            for T_p1_portion in 0 .. T_p1_portions:  # threads, portions, work work
                let T_p1_begin = distal_portion_begin(&T_pos2[T_begin1], T_end1 - T_begin1, T_p1_portions, shared, T_p1_portion)
                let T_p1_end = distal_portion_end(&T_pos2[T_begin1], T_end1 - T_begin1, T_p1_portions, shared, T_p1_portion)
                if T_p1_ranges < 2:
                    for T_p1 in T_begin1 + T_p1_begin .. T_begin1 + T_p1_end:
                        let i = T_crd1[T_p1]
                        let T_begin2 = T_pos2[T_p1]
                        let T_end2 = T_pos2[T_p1 + 1]
                        if T_p1 < T_crd1_prefetch_end:
                            let i_prefetched = T_crd1[T_p1 + 12]
                            distal_prefetch(&C[(i_prefetched - C_lo0) * C_stride0 - C_lo1], 320)
                        let C_at = (i - C_lo0) * C_stride0 - C_lo1
                        for T_p2 in T_begin2 .. T_end2:
                            let j = T_crd2[T_p2]
                            let T_begin3 = T_pos3[T_p2]
                            let T_end3 = T_pos3[T_p2 + 1]
                            if T_p2 < T_crd2_prefetch_end:
                                let j_prefetched = T_crd2[T_p2 + 12]
                                distal_prefetch(&D[(j_prefetched - D_lo0) * D_stride0 - D_lo1], 320)
                            let D_at = (j - D_lo0) * D_stride0 - D_lo1
                            for T_p3 in T_begin3 .. T_end3:  # distinct
                                let k = T_crd3[T_p3]
                                let T_value: f64 = T[T_p3]
                                if T_p3 < T_crd3_prefetch_end:
                                    let k_prefetched = T_crd3[T_p3 + 12]
                                    distal_prefetch(&A_own[(k_prefetched - A_lo0) * A_stride0 - A_lo1], 320)
                                let A_own_at = (k - A_lo0) * A_stride0 - A_lo1
                                for l in 0 .. 40:  # distinct, vector
                                    A_own[A_own_at + l] += T_value * C[C_at + l] * D[D_at + l]
                if T_p1_ranges > 1:
                    for T_p1_group in T_begin1 + T_p1_begin .. T_begin1 + T_p1_end by 512:
                        workspace next[513]
                        let T_p1_group_end = min(T_p1_group + 512, T_begin1 + T_p1_end)
                        for T_p1_begins in T_p1_group .. T_p1_group_end + 1:
                            next[T_p1_begins - T_p1_group] = T_pos2[T_p1_begins]
                        for T_p1_range in 0 .. T_p1_ranges:
                            let T_p1_bound = distal_range_bound_i32(&T_pos2[T_begin1], T_end1 - T_begin1, &T_crd2[0], T_p1_ranges, T_p1_range)
                            for T_p1 in T_p1_group .. T_p1_group_end:
                                let i = T_crd1[T_p1]
                                let T_begin2 = next[T_p1 - T_p1_group]
                                let T_p1_all_end = T_pos2[T_p1 + 1]
                                let T_end2 = distal_range_end_i32(&T_crd2[0], T_begin2, T_p1_all_end, T_p1_bound)
                                next[T_p1 - T_p1_group] = (int64_t)T_end2
                                let T_p1_next = next[T_p1 - T_p1_group + 1]
                                distal_prefetch(&T_crd2[T_p1_next], (T_end2 - T_begin2) * 4)
                                distal_prefetch(&T_pos3[T_p1_next], (T_end2 - T_begin2) * 8)
                                let T_p1_below = T_pos3[T_p1_next]
                                let T_p1_below_2 = T_pos3[T_begin2]
                                let T_p1_below_3 = T_pos3[T_end2]
                                distal_prefetch(&T_crd3[T_p1_below], (T_p1_below_3 - T_p1_below_2) * 4)
                                distal_prefetch(&T[T_p1_below], (T_p1_below_3 - T_p1_below_2) * 8)
                                if T_p1 < T_crd1_prefetch_end:
                                    let i_prefetched = T_crd1[T_p1 + 12]
                                    distal_prefetch(&C[(i_prefetched - C_lo0) * C_stride0 - C_lo1], 320)
                                let C_at = (i - C_lo0) * C_stride0 - C_lo1
                                for T_p2 in T_begin2 .. T_end2:
                                    let j = T_crd2[T_p2]
                                    let T_begin3 = T_pos3[T_p2]
                                    let T_end3 = T_pos3[T_p2 + 1]
                                    if T_p2 < 0:
                                        let j_prefetched = T_crd2[T_p2 + 12]
                                        distal_prefetch(&D[(j_prefetched - D_lo0) * D_stride0 - D_lo1], 320)
                                    let D_at = (j - D_lo0) * D_stride0 - D_lo1
                                    for T_p3 in T_begin3 .. T_end3:  # distinct
                                        let k = T_crd3[T_p3]
                                        let T_value: f64 = T[T_p3]
                                        if T_p3 < T_crd3_prefetch_end:
                                            let k_prefetched = T_crd3[T_p3 + 12]
                                            distal_prefetch(&A_own[(k_prefetched - A_lo0) * A_stride0 - A_lo1], 320)
                                        let A_own_at = (k - A_lo0) * A_stride0 - A_lo1
                                        for l in 0 .. 40:  # distinct, vector
                                            A_own[A_own_at + l] += T_value * C[C_at + l] * D[D_at + l]
    release FETCH_D
    release FETCH_C
    release FETCH_T
    reduce REDUCE_A
