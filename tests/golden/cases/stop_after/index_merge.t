# Operands at different offsets are merged: each gives what it stores less its offset.
# run: explain --stop-after loops:lowered {file}
--- program
param n = 1000000000, k = 3
tensor A(n): f64
tensor B(n): f64, {compressed}
tensor C(n + k): f64, {compressed}
A(i) = B(i) - B(i - 1) + C(i + k)
--- stdout
# REDUCE_A: reduce A[:]
# FETCH_B: fetch B[:]
# FETCH_B_2: fetch B[:]
# FETCH_C: fetch C[:]
for each processor (), active:
    A = open REDUCE_A with A_lo0 = lo[0]
    start FETCH_B
    B = wait FETCH_B with B_pos1 = levels[0].arrays[0], B_crd1 = levels[0].arrays[1]
    start FETCH_B_2
    B_2 = wait FETCH_B_2 with B_pos1_2 = levels[0].arrays[0], B_crd1_2 = levels[0].arrays[1]
    start FETCH_C
    C = wait FETCH_C with C_pos1 = levels[0].arrays[0], C_crd1 = levels[0].arrays[1]
    leaf where active:  # loops: 'B' is sparse
        let B_begin1 = B_pos1[0]
        let B_end1 = B_pos1[1]
        let i_count = B_end1 - B_begin1
        # threads take coordinates 'i' at which 'B' stores equal numbers of entries
        let i_parts = distal_parts(1)
        for i_part in 0 .. i_parts:  # distinct, work i_count
            let i_start = distal_part_begin(i_count, i_parts, i_part)
            let i_after = distal_part_begin(i_count, i_parts, i_part + 1)
            let i_low = i_part > 0 ? (i_start < i_count ? B_crd1[B_begin1 + i_start] : n) : 0
            let i_low_2 = max(0, min(i_low, n))
            let i_high = i_after < i_count ? B_crd1[B_begin1 + i_after] : n
            let i_high_2 = max(0, min(i_high, n))
            let B_begin1_2 = B_pos1[0]
            let B_end1_2 = B_pos1[1]
            let B_from1 = distal_search_i32(&B_crd1[0], B_begin1_2, B_end1_2, i_low_2)
            let B_to1 = distal_search_i32(&B_crd1[0], B_from1, B_end1_2, i_high_2)
            workspace B_at1
            B_at1 = B_from1
            let B_2_begin1 = B_pos1_2[0]
            let B_2_end1 = B_pos1_2[1]
            let B_2_from1 = distal_search_i32(&B_crd1_2[0], B_2_begin1, B_2_end1, i_low_2 - 1)
            let B_2_to1 = distal_search_i32(&B_crd1_2[0], B_2_from1, B_2_end1, i_high_2 - 1)
            workspace B_at1_2
            B_at1_2 = B_2_from1
            let C_begin1 = C_pos1[0]
            let C_end1 = C_pos1[1]
            let C_from1 = distal_search_i32(&C_crd1[0], C_begin1, C_end1, i_low_2 + k)
            let C_to1 = distal_search_i32(&C_crd1[0], C_from1, C_end1, i_high_2 + k)
            workspace C_at1
            C_at1 = C_from1
            while (B_at1 < B_to1 || B_at1_2 < B_2_to1) || C_at1 < C_to1:
                let B_p1 = B_at1
                let B_c1 = B_p1 < B_to1 ? B_crd1[B_p1] : n
                let B_2_p1 = B_at1_2
                let B_2_c1 = B_2_p1 < B_2_to1 ? B_crd1_2[B_2_p1] : n - 1
                let B_2_c1_2 = B_2_c1 + 1
                let C_p1 = C_at1
                let C_c1 = C_p1 < C_to1 ? C_crd1[C_p1] : n + k
                let C_c1_2 = C_c1 - k
                let i = min(min(B_c1, B_2_c1_2), C_c1_2)
                let B_has1 = B_c1 == i
                let B_next1 = B_has1 ? B_p1 + 1 : B_p1
                let B_2_has1 = B_2_c1_2 == i
                let B_2_next1 = B_2_has1 ? B_2_p1 + 1 : B_2_p1
                let C_has1 = C_c1_2 == i
                let C_next1 = C_has1 ? C_p1 + 1 : C_p1
                let i_index_2 = i + k
                let i_index = i - 1
                if i_index > -1 && i_index_2 > -1 && i_index_2 < n + k:
                    A[i - A_lo0] += (B_has1 ? B[B_p1] : 0.0) - (B_2_has1 ? B_2[B_2_p1] : 0.0) + (C_has1 ? C[C_p1] : 0.0)
                B_at1 = B_next1
                B_at1_2 = B_2_next1
                C_at1 = C_next1
    release FETCH_C
    release FETCH_B_2
    release FETCH_B
    reduce REDUCE_A
