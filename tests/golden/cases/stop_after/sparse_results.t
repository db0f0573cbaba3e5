# A sparse result has the structure of an operand, or is assembled: its entries are appended first.
# run: explain {file} --stop-after loops
--- program
param n = 1000
param m = 800
param k = 8
tensor A(n, m): f64, csr
tensor B(n, m): f64, csr
tensor E(n, m): f64, coo
tensor C(n, k): f64
tensor D(k, m): f64
A(i, j) = B(i, j) * C(i, q) * D(q, j)
A(i, j) = B(i, j) - E(i, j)
--- stdout
# REDUCE_A: reduce A[:, :]
# FETCH_B: fetch B[:, :]
# FETCH_C: fetch C[:, :]
# FETCH_D: fetch D[:, :]
for each processor (), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_extent0 = extent[0], A_pos2 = levels[1].arrays[0], A_crd2 = levels[1].arrays[1]
    start FETCH_B
    start FETCH_C
    start FETCH_D
    B = wait FETCH_B with B_lo0 = lo[0], B_extent0 = extent[0], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1]
    C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    D = wait FETCH_D with D_lo0 = lo[0], D_stride0 = stride[0], D_lo1 = lo[1]
    leaf where active && A:  # loops: 'A' is sparse
        let q_strips_end = max(0, k) / 32 * 32
        let q_strips_end_2 = max(0, k) / 8 * 8
        let i_work = distal_work(&B_pos2[-B_lo0], n, k)
        let i_portions = distal_portions(&B_pos2[-B_lo0], n, i_work)
        let i_shared = distal_shared_portions(&B_pos2[-B_lo0], n, i_portions, i_work)
        for i_portion in -i_shared .. 0:
            let i_begin = distal_portion_begin(&B_pos2[-B_lo0], n, i_portions, i_shared, i_portion)
            let i_end = distal_portion_end(&B_pos2[-B_lo0], n, i_portions, i_shared, i_portion)
            for i in i_begin .. i_end:  # distinct
                let B_p1 = i - B_lo0
                let B_begin2 = B_pos2[B_p1]
                let B_end2 = B_pos2[B_p1 + 1]
                let C_at = (i - C_lo0) * C_stride0 - C_lo1
                for B_p2 in B_begin2 .. B_end2:  # threads, work (B_end2 - B_begin2) * k
                    let j = B_crd2[B_p2]
                    workspace sum
                    let B_value: f64 = k > 0 ? B[B_p2] : 0.0
                    for q_strip in 0 .. q_strips_end by 32:
                        for q_in in 0 .. 32:  # vector, sum sum
                            let q = q_strip + q_in
                            sum += B_value * C[C_at + q] * D[(q - D_lo0) * D_stride0 + j - D_lo1]
                    for q_strip in q_strips_end .. q_strips_end_2 by 8:
                        for q_in in 0 .. 8:  # vector, sum sum
                            let q = q_strip + q_in
                            sum += B_value * C[C_at + q] * D[(q - D_lo0) * D_stride0 + j - D_lo1]
                    if q_strips_end_2 < k:
                        for q in q_strips_end_2 .. k:  # vector, sum sum
                            sum += B_value * C[C_at + q] * D[(q - D_lo0) * D_stride0 + j - D_lo1]
                    A[B_p2] = sum
        for i_portion in 0 .. i_portions:  # distinct, threads, portions, work i_work
            let i_begin = distal_portion_begin(&B_pos2[-B_lo0], n, i_portions, i_shared, i_portion)
            let i_end = distal_portion_end(&B_pos2[-B_lo0], n, i_portions, i_shared, i_portion)
            for i in i_begin .. i_end:  # distinct
                let B_p1 = i - B_lo0
                let B_begin2 = B_pos2[B_p1]
                let B_end2 = B_pos2[B_p1 + 1]
                let C_at = (i - C_lo0) * C_stride0 - C_lo1
                for B_p2 in B_begin2 .. B_end2:  # distinct
                    let j = B_crd2[B_p2]
                    workspace sum
                    let B_value: f64 = k > 0 ? B[B_p2] : 0.0
                    for q_strip in 0 .. q_strips_end by 32:
                        for q_in in 0 .. 32:  # vector, sum sum
                            let q = q_strip + q_in
                            sum += B_value * C[C_at + q] * D[(q - D_lo0) * D_stride0 + j - D_lo1]
                    for q_strip in q_strips_end .. q_strips_end_2 by 8:
                        for q_in in 0 .. 8:  # vector, sum sum
                            let q = q_strip + q_in
                            sum += B_value * C[C_at + q] * D[(q - D_lo0) * D_stride0 + j - D_lo1]
                    if q_strips_end_2 < k:
                        for q in q_strips_end_2 .. k:  # vector, sum sum
                            sum += B_value * C[C_at + q] * D[(q - D_lo0) * D_stride0 + j - D_lo1]
                    A[B_p2] = sum
    release FETCH_D
    release FETCH_C
    release FETCH_B
    reduce REDUCE_A

# REDUCE_A: reduce A[:, :]
# FETCH_B: fetch B[:, :]
# FETCH_E: fetch E[:, :]
for each processor (), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_extent0 = extent[0], A_pos2 = levels[1].arrays[0], A_crd2 = levels[1].arrays[1]
    start FETCH_B
    start FETCH_E
    B = wait FETCH_B with B_lo0 = lo[0], B_extent0 = extent[0], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1]
    E = wait FETCH_E with E_pos1 = levels[0].arrays[0], E_crd1 = levels[0].arrays[1], E_crd2 = levels[1].arrays[0]
    leaf where active:  # loops: 'A' is sparse
        let E_pos1_value: i64 = n > 0 ? E_pos1[0] : 0L
        let E_pos1_value_2: i64 = n > 0 ? E_pos1[1] : 0L
        let i_work = distal_work(&B_pos2[-B_lo0], n, 1)
        let i_portions = distal_portions(&B_pos2[-B_lo0], n, i_work)
        for i_portion in 0 .. i_portions:  # distinct, threads, portions, work i_work
            let i_begin = distal_portion_begin(&B_pos2[-B_lo0], n, i_portions, 0, i_portion)
            let i_end = distal_portion_end(&B_pos2[-B_lo0], n, i_portions, 0, i_portion)
            for i in i_begin .. i_end:  # distinct
                let B_p1 = i - B_lo0
                let E_begin1 = E_pos1_value
                let E_end1 = E_pos1_value_2
                let E_p1 = distal_search_i32(&E_crd1[0], E_begin1, E_end1, i)
                let E_has1 = E_p1 < E_end1 && E_crd1[E_p1] == i
                let E_next1 = E_has1 ? distal_run_end_i32(&E_crd1[0], E_p1, E_end1) : E_p1
                let A_p1 = i - A_lo0
                let B_begin2 = B_pos2[B_p1]
                let B_end2 = B_pos2[B_p1 + 1]
                workspace B_at2
                B_at2 = B_begin2
                workspace E_at2
                E_at2 = E_p1
                let A_begin2 = A_pos2[A_p1]
                let A_end2 = A_pos2[A_p1 + 1]
                workspace A_at2
                A_at2 = A_begin2
                while B_at2 < B_end2 || E_at2 < E_next1:
                    let B_p2 = B_at2
                    let B_c2 = B_p2 < B_end2 ? B_crd2[B_p2] : 9223372036854775807
                    let E_p2 = E_at2
                    let E_c2 = E_p2 < E_next1 ? E_crd2[E_p2] : 9223372036854775807
                    let j = min(B_c2, E_c2)
                    let B_has2 = B_c2 == j
                    let B_next2 = B_has2 ? B_p2 + 1 : B_p2
                    let E_has2 = E_c2 == j
                    let E_next2 = E_has2 ? E_p2 + 1 : E_p2
                    let A_from2 = A_at2
                    let A_p2 = distal_search_i32(&A_crd2[0], A_from2, A_end2, j)
                    A_at2 = A_p2
                    A[A_p2] = (B_has2 ? B[B_p2] : 0.0) - (E_has2 ? E[E_p2] : 0.0)
                    B_at2 = B_next2
                    E_at2 = E_next2
    release FETCH_E
    release FETCH_B
    reduce REDUCE_A

# The entries of the result.
# REDUCE_A: reduce A[:, :]
# FETCH_B: fetch B[:, :]
# FETCH_E: fetch E[:, :]
let n_per_512 = ceil_div(n, 512)
for each processor (), active:
    start FETCH_B
    start FETCH_E
    B = wait FETCH_B with B_lo0 = lo[0], B_extent0 = extent[0], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1]
    E = wait FETCH_E with E_pos1 = levels[0].arrays[0], E_crd1 = levels[0].arrays[1], E_crd2 = levels[1].arrays[0]
    leaf where active:  # loops: 'A' is sparse
        let A_size = max(1, n_per_512)
        for portion in 0 .. ceil_div(n, A_size):  # distinct, threads, portions, work 16 * n
            let A_from = portion * A_size
            let A_to = min(portion * A_size + A_size, n)
            portion portion of REDUCE_A, A_parents2, A_begins2, A_crd2:
                workspace A_parent2
                A_parent2 = -1
                let E_pos1_value: i64 = A_from < A_to ? E_pos1[0] : 0L
                let E_pos1_value_2: i64 = A_from < A_to ? E_pos1[1] : 0L
                for i in A_from .. A_to:
                    let B_p1 = i - B_lo0
                    let E_begin1 = E_pos1_value
                    let E_end1 = E_pos1_value_2
                    let E_p1 = distal_search_i32(&E_crd1[0], E_begin1, E_end1, i)
                    let E_has1 = E_p1 < E_end1 && E_crd1[E_p1] == i
                    let E_next1 = E_has1 ? distal_run_end_i32(&E_crd1[0], E_p1, E_end1) : E_p1
                    let B_begin2 = B_pos2[B_p1]
                    let B_end2 = B_pos2[B_p1 + 1]
                    workspace B_at2
                    B_at2 = B_begin2
                    workspace E_at2
                    E_at2 = E_p1
                    while B_at2 < B_end2 || E_at2 < E_next1:
                        let B_p2 = B_at2
                        let B_c2 = B_p2 < B_end2 ? B_crd2[B_p2] : 9223372036854775807
                        let E_p2 = E_at2
                        let E_c2 = E_p2 < E_next1 ? E_crd2[E_p2] : 9223372036854775807
                        let j = min(B_c2, E_c2)
                        let B_has2 = B_c2 == j
                        let B_next2 = B_has2 ? B_p2 + 1 : B_p2
                        let E_has2 = E_c2 == j
                        let E_next2 = E_has2 ? E_p2 + 1 : E_p2
                        if A_parent2 < i:
                            A_parent2 = i
                            push (int64_t)i to A_parents2
                            push (int64_t)distal_count_i32(A_crd2) to A_begins2
                        push (int32_t)j to A_crd2
                        B_at2 = B_next2
                        E_at2 = E_next2
    release FETCH_E
    release FETCH_B
