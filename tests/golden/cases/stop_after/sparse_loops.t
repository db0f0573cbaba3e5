# Loops over what sparse tensors store: positions of one, the least coordinate of several, and operands that are looked up.
# run: explain {file} --stop-after loops
--- program
param n = 100
param m = 80
tensor B(n, m): f64, csr
tensor C(n, m): f64, dcsr
tensor T(n, m): f64, coo
tensor x(m): f64
tensor y(n): f64
tensor A(n, m): f64
y(i) = B(i, j) * x(j)
y(i) = T(i, j) * x(j)
A(i, j) = B(i, j) + C(i, j)
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
        for i_portion in -i_shared .. 0:
            let i_begin = distal_portion_begin(&B_pos2[-B_lo0], n, i_portions, i_shared, i_portion)
            let i_end = distal_portion_end(&B_pos2[-B_lo0], n, i_portions, i_shared, i_portion)
            for i in i_begin .. i_end:  # distinct
                let B_p1 = i - B_lo0
                let B_begin2 = B_pos2[B_p1]
                let B_end2 = B_pos2[B_p1 + 1]
                workspace sum
                workspace sum_parts[64]
                for i_part in 0 .. 64:  # threads, work B_end2 - B_begin2
                    let begin = distal_part_begin(B_end2 - B_begin2, 64, i_part)
                    let end = distal_part_begin(B_end2 - B_begin2, 64, i_part + 1)
                    workspace sum_part
                    for B_p2 in B_begin2 + begin .. B_begin2 + end:  # sum sum_part
                        let j = B_crd2[B_p2]
                        sum_part += B[B_p2] * x[j - x_lo0]
                    sum_parts[i_part] = sum_part
                for i_part in 0 .. 64:
                    sum += sum_parts[i_part]
                y[i - y_lo0] = sum
        for i_portion in 0 .. i_portions:  # distinct, threads, portions, work i_work
            let i_begin = distal_portion_begin(&B_pos2[-B_lo0], n, i_portions, i_shared, i_portion)
            let i_end = distal_portion_end(&B_pos2[-B_lo0], n, i_portions, i_shared, i_portion)
            for i in i_begin .. i_end:  # distinct
                let B_p1 = i - B_lo0
                let B_begin2 = B_pos2[B_p1]
                let B_end2 = B_pos2[B_p1 + 1]
                workspace sum
                for B_p2 in B_begin2 .. B_end2:  # sum sum
                    let j = B_crd2[B_p2]
                    sum += B[B_p2] * x[j - x_lo0]
                y[i - y_lo0] = sum
    release FETCH_x
    release FETCH_B
    reduce REDUCE_y

# REDUCE_y: reduce y[:]
# FETCH_T: fetch T[:, :]
# FETCH_x: fetch x[:]
for each processor (), active:
    y = open REDUCE_y with y_lo0 = lo[0]
    start FETCH_T
    start FETCH_x
    T = wait FETCH_T with T_pos1 = levels[0].arrays[0], T_crd1 = levels[0].arrays[1], T_crd2 = levels[1].arrays[0]
    x = wait FETCH_x with x_lo0 = lo[0]
    leaf where active:  # loops: 'T' is sparse
        let T_begin1 = T_pos1[0]
        let T_end1 = T_pos1[1]
        let i_count = T_end1 - T_begin1
        # threads take coordinates 'i' at which 'T' stores equal numbers of entries
        let i_parts = distal_parts(1)
        let T_pos1_value: i64 = i_parts > 0 ? T_pos1[0] : 0L
        let T_pos1_value_2: i64 = i_parts > 0 ? T_pos1[1] : 0L
        for i_part in 0 .. i_parts:  # distinct, threads, work i_count
            let i_start = distal_part_begin(i_count, i_parts, i_part)
            let i_after = distal_part_begin(i_count, i_parts, i_part + 1)
            let i_low = i_part > 0 ? (i_start < i_count ? T_crd1[T_begin1 + i_start] : 9223372036854775807) : 0
            let i_high = i_after < i_count ? T_crd1[T_begin1 + i_after] : 9223372036854775807
            let T_begin1_2 = T_pos1_value
            let T_end1_2 = T_pos1_value_2
            let T_from1 = distal_search_i32(&T_crd1[0], T_begin1_2, T_end1_2, i_low)
            let T_to1 = distal_search_i32(&T_crd1[0], T_from1, T_end1_2, i_high)
            for T_p1 in T_from1 .. T_to1:
                let i = T_crd1[T_p1]
                let T_p2 = T_p1
                let j = T_crd2[T_p2]
                y[i - y_lo0] += T[T_p2] * x[j - x_lo0]
    release FETCH_x
    release FETCH_T
    reduce REDUCE_y

# REDUCE_A: reduce A[:, :]
# FETCH_B: fetch B[:, :]
# FETCH_C: fetch C[:, :]
for each processor (), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    start FETCH_B
    start FETCH_C
    B = wait FETCH_B with B_lo0 = lo[0], B_extent0 = extent[0], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1]
    C = wait FETCH_C with C_pos1 = levels[0].arrays[0], C_crd1 = levels[0].arrays[1], C_pos2 = levels[1].arrays[0], C_crd2 = levels[1].arrays[1]
    leaf where active:  # loops: 'B' is sparse
        let C_pos1_value: i64 = n > 0 ? C_pos1[0] : 0L
        let C_pos1_value_2: i64 = n > 0 ? C_pos1[1] : 0L
        let i_work = distal_work(&B_pos2[-B_lo0], n, 1)
        let i_portions = distal_portions(&B_pos2[-B_lo0], n, i_work)
        for i_portion in 0 .. i_portions:  # distinct, threads, portions, work i_work
            let i_begin = distal_portion_begin(&B_pos2[-B_lo0], n, i_portions, 0, i_portion)
            let i_end = distal_portion_end(&B_pos2[-B_lo0], n, i_portions, 0, i_portion)
            for i in i_begin .. i_end:  # distinct
                let B_p1 = i - B_lo0
                let C_begin1 = C_pos1_value
                let C_end1 = C_pos1_value_2
                let C_p1 = distal_search_i32(&C_crd1[0], C_begin1, C_end1, i)
                let C_has1 = C_p1 < C_end1 && C_crd1[C_p1] == i
                let C_next1 = C_has1 ? C_p1 + 1 : C_p1
                let B_begin2 = B_pos2[B_p1]
                let B_end2 = B_pos2[B_p1 + 1]
                workspace B_at2
                B_at2 = B_begin2
                let C_begin2 = C_pos2[C_p1]
                let C_end2 = C_pos2[C_next1]
                workspace C_at2
                C_at2 = C_begin2
                let A_at = (i - A_lo0) * A_stride0 - A_lo1
                while B_at2 < B_end2 || C_at2 < C_end2:
                    let B_p2 = B_at2
                    let B_c2 = B_p2 < B_end2 ? B_crd2[B_p2] : 9223372036854775807
                    let C_p2 = C_at2
                    let C_c2 = C_p2 < C_end2 ? C_crd2[C_p2] : 9223372036854775807
                    let j = min(B_c2, C_c2)
                    let B_has2 = B_c2 == j
                    let B_next2 = B_has2 ? B_p2 + 1 : B_p2
                    let C_has2 = C_c2 == j
                    let C_next2 = C_has2 ? C_p2 + 1 : C_p2
                    A[A_at + j] += (B_has2 ? B[B_p2] : 0.0) + (C_has2 ? C[C_p2] : 0.0)
                    B_at2 = B_next2
                    C_at2 = C_next2
    release FETCH_C
    release FETCH_B
    reduce REDUCE_A
