# Threads append the rows of a product by portions: of parts of the coordinates where several entries of a list have
# one row, of rows else.
# run: explain {file} --stop-after loops
--- program
param n = 100
tensor A(n, n): f64, csr
tensor B(n, n): f64, coo
tensor C(n, n): f64, csr
A(i, j) = B(i, k) * C(k, j)
A(i, j) = C(i, k) * C(k, j)
--- stdout
# REDUCE_A: reduce A[:, :]
# FETCH_B: fetch B[:, :]
# FETCH_C: fetch C[:, :]
for each processor (), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_extent0 = extent[0], A_pos2 = levels[1].arrays[0], A_crd2 = levels[1].arrays[1]
    start FETCH_B
    start FETCH_C
    B = wait FETCH_B with B_pos1 = levels[0].arrays[0], B_crd1 = levels[0].arrays[1], B_crd2 = levels[1].arrays[0]
    C = wait FETCH_C with C_lo0 = lo[0], C_extent0 = extent[0], C_pos2 = levels[1].arrays[0], C_crd2 = levels[1].arrays[1]
    leaf where active:  # loops: 'A' is sparse
        let B_begin1 = B_pos1[0]
        let B_end1 = B_pos1[1]
        let i_count = B_end1 - B_begin1
        # threads take coordinates 'i' at which 'B' stores equal numbers of entries
        let i_parts = distal_parts(1)
        let B_pos1_value: i64 = i_parts > 0 ? B_pos1[0] : 0L
        let B_pos1_value_2: i64 = i_parts > 0 ? B_pos1[1] : 0L
        for i_part in 0 .. i_parts:  # distinct, threads, uneven, work i_count + i_count
            let i_start = distal_part_begin(i_count, i_parts, i_part)
            let i_after = distal_part_begin(i_count, i_parts, i_part + 1)
            let i_low = i_part > 0 ? (i_start < i_count ? B_crd1[B_begin1 + i_start] : 9223372036854775807) : 0
            let i_high = i_after < i_count ? B_crd1[B_begin1 + i_after] : 9223372036854775807
            let B_begin1_2 = B_pos1_value
            let B_end1_2 = B_pos1_value_2
            let B_from1 = distal_search_i32(&B_crd1[0], B_begin1_2, B_end1_2, i_low)
            let B_to1 = distal_search_i32(&B_crd1[0], B_from1, B_end1_2, i_high)
            workspace B_at1
            B_at1 = B_from1
            while B_at1 < B_to1:
                let B_p1 = B_at1
                let B_c1 = B_crd1[B_p1]
                let i = B_c1
                let B_has1 = B_c1 == i
                let B_next1 = B_has1 ? distal_run_end_i32(&B_crd1[0], B_p1, B_to1) : B_p1
                let A_p1 = i - A_lo0
                workspace A_row[n]
                for B_p2 in B_p1 .. B_next1:
                    let k = B_crd2[B_p2]
                    let C_p1 = k - C_lo0
                    let C_begin2 = C_pos2[C_p1]
                    let C_end2 = C_pos2[C_p1 + 1]
                    let B_value: f64 = C_begin2 < C_end2 ? B[B_p2] : 0.0
                    for C_p2 in C_begin2 .. C_end2:  # distinct, vector
                        let j = C_crd2[C_p2]
                        A_row[j] += B_value * C[C_p2]
                let A_begin2 = A_pos2[A_p1]
                let A_end2 = A_pos2[A_p1 + 1]
                for A_p2 in A_begin2 .. A_end2:
                    let A_c2 = A_crd2[A_p2]
                    A[A_p2] = A_row[A_c2]
                    A_row[A_c2] = 0.0
                let B_jump1 = B_has1 ? B_next1 : distal_search_i32(&B_crd1[0], B_p1, B_to1, i)
                B_at1 = B_jump1
    release FETCH_C
    release FETCH_B
    reduce REDUCE_A

# The entries of the result.
# REDUCE_A: reduce A[:, :]
# FETCH_B: fetch B[:, :]
# FETCH_C: fetch C[:, :]
for each processor (), active:
    start FETCH_B
    start FETCH_C
    B = wait FETCH_B with B_pos1 = levels[0].arrays[0], B_crd1 = levels[0].arrays[1], B_crd2 = levels[1].arrays[0]
    C = wait FETCH_C with C_lo0 = lo[0], C_extent0 = extent[0], C_pos2 = levels[1].arrays[0], C_crd2 = levels[1].arrays[1]
    leaf where active:  # loops: 'A' is sparse
        let B_begin1 = B_pos1[0]
        let B_end1 = B_pos1[1]
        let i_count = B_end1 - B_begin1
        # threads take coordinates 'i' at which 'B' stores equal numbers of entries
        let i_parts = distal_parts(1)
        let A_size = max(1, ceil_div(i_parts, 512))
        for portion in 0 .. ceil_div(i_parts, A_size):  # distinct, threads, portions, work i_count
            let A_from = portion * A_size
            let A_to = min(portion * A_size + A_size, i_parts)
            portion portion of REDUCE_A, A_parents2, A_begins2, A_crd2:
                set A_row
                let B_pos1_value: i64 = A_from < A_to ? B_pos1[0] : 0L
                let B_pos1_value_2: i64 = A_from < A_to ? B_pos1[1] : 0L
                for i_part in A_from .. A_to:
                    let i_start = distal_part_begin(i_count, i_parts, i_part)
                    let i_after = distal_part_begin(i_count, i_parts, i_part + 1)
                    let i_low = i_part > 0 ? (i_start < i_count ? B_crd1[B_begin1 + i_start] : 9223372036854775807) : 0
                    let i_high = i_after < i_count ? B_crd1[B_begin1 + i_after] : 9223372036854775807
                    let B_begin1_2 = B_pos1_value
                    let B_end1_2 = B_pos1_value_2
                    let B_from1 = distal_search_i32(&B_crd1[0], B_begin1_2, B_end1_2, i_low)
                    let B_to1 = distal_search_i32(&B_crd1[0], B_from1, B_end1_2, i_high)
                    workspace B_at1
                    B_at1 = B_from1
                    while B_at1 < B_to1:
                        let B_p1 = B_at1
                        let B_c1 = B_crd1[B_p1]
                        let i = B_c1
                        let B_has1 = B_c1 == i
                        let B_next1 = B_has1 ? distal_run_end_i32(&B_crd1[0], B_p1, B_to1) : B_p1
                        for B_p2 in B_p1 .. B_next1:
                            let k = B_crd2[B_p2]
                            let C_p1 = k - C_lo0
                            let C_begin2 = C_pos2[C_p1]
                            let C_end2 = C_pos2[C_p1 + 1]
                            for C_p2 in C_begin2 .. C_end2:
                                let j = C_crd2[C_p2]
                                insert j into A_row
                        let A_words = distal_count_set(A_row)
                        if A_words > 0:
                            push (int64_t)i to A_parents2
                            push (int64_t)distal_count_i32(A_crd2) to A_begins2
                            push A_row to A_crd2
                        let B_jump1 = B_has1 ? B_next1 : distal_search_i32(&B_crd1[0], B_p1, B_to1, i)
                        B_at1 = B_jump1
    release FETCH_C
    release FETCH_B

# REDUCE_A: reduce A[:, :]
# FETCH_C: fetch C[:, :]
# FETCH_C_2: fetch C[:, :]
for each processor (), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_extent0 = extent[0], A_pos2 = levels[1].arrays[0], A_crd2 = levels[1].arrays[1]
    start FETCH_C
    start FETCH_C_2
    C = wait FETCH_C with C_lo0 = lo[0], C_extent0 = extent[0], C_pos2 = levels[1].arrays[0], C_crd2 = levels[1].arrays[1]
    C_2 = wait FETCH_C_2 with C_2_lo0 = lo[0], C_2_extent0 = extent[0], C_pos2_2 = levels[1].arrays[0], C_crd2_2 = levels[1].arrays[1]
    leaf where active:  # loops: 'A' is sparse
        let i_work = distal_work(&C_pos2[-C_lo0], n, 32)
        let i_portions = distal_portions(&C_pos2[-C_lo0], n, i_work)
        for i_portion in 0 .. i_portions:  # distinct, threads, portions, work i_work
            let i_begin = distal_portion_begin(&C_pos2[-C_lo0], n, i_portions, 0, i_portion)
            let i_end = distal_portion_end(&C_pos2[-C_lo0], n, i_portions, 0, i_portion)
            for i in i_begin .. i_end:  # distinct
                let C_p1 = i - C_lo0
                let A_p1 = i - A_lo0
                workspace A_row[n]
                let C_begin2 = C_pos2[C_p1]
                let C_end2 = C_pos2[C_p1 + 1]
                for C_p2 in C_begin2 .. C_end2:
                    let k = C_crd2[C_p2]
                    let C_2_p1 = k - C_2_lo0
                    let C_2_begin2 = C_pos2_2[C_2_p1]
                    let C_2_end2 = C_pos2_2[C_2_p1 + 1]
                    let C_value: f64 = C_2_begin2 < C_2_end2 ? C[C_p2] : 0.0
                    for C_2_p2 in C_2_begin2 .. C_2_end2:  # distinct, vector
                        let j = C_crd2_2[C_2_p2]
                        A_row[j] += C_value * C_2[C_2_p2]
                let A_begin2 = A_pos2[A_p1]
                let A_end2 = A_pos2[A_p1 + 1]
                for A_p2 in A_begin2 .. A_end2:
                    let A_c2 = A_crd2[A_p2]
                    A[A_p2] = A_row[A_c2]
                    A_row[A_c2] = 0.0
    release FETCH_C_2
    release FETCH_C
    reduce REDUCE_A

# The entries of the result.
# REDUCE_A: reduce A[:, :]
# FETCH_C: fetch C[:, :]
# FETCH_C_2: fetch C[:, :]
let n_per_512 = ceil_div(n, 512)
for each processor (), active:
    start FETCH_C
    start FETCH_C_2
    C = wait FETCH_C with C_lo0 = lo[0], C_extent0 = extent[0], C_pos2 = levels[1].arrays[0], C_crd2 = levels[1].arrays[1]
    C_2 = wait FETCH_C_2 with C_2_lo0 = lo[0], C_2_extent0 = extent[0], C_pos2_2 = levels[1].arrays[0], C_crd2_2 = levels[1].arrays[1]
    leaf where active:  # loops: 'A' is sparse
        let A_size = max(1, n_per_512)
        for portion in 0 .. ceil_div(n, A_size):  # distinct, threads, portions, work 16 * n
            let A_from = portion * A_size
            let A_to = min(portion * A_size + A_size, n)
            portion portion of REDUCE_A, A_parents2, A_begins2, A_crd2:
                set A_row
                for i in A_from .. A_to:
                    let C_p1 = i - C_lo0
                    let C_begin2 = C_pos2[C_p1]
                    let C_end2 = C_pos2[C_p1 + 1]
                    for C_p2 in C_begin2 .. C_end2:
                        let k = C_crd2[C_p2]
                        let C_2_p1 = k - C_2_lo0
                        let C_2_begin2 = C_pos2_2[C_2_p1]
                        let C_2_end2 = C_pos2_2[C_2_p1 + 1]
                        for C_2_p2 in C_2_begin2 .. C_2_end2:
                            let j = C_crd2_2[C_2_p2]
                            insert j into A_row
                    let A_words = distal_count_set(A_row)
                    if A_words > 0:
                        push (int64_t)i to A_parents2
                        push (int64_t)distal_count_i32(A_crd2) to A_begins2
                        push A_row to A_crd2
    release FETCH_C_2
    release FETCH_C
