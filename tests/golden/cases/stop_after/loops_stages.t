# What reads a sparse workspace is executed after its entries and values have been found.
# run: explain {file} --stop-after loops
--- program
tensor A(90, 90): f64, csr
tensor B(90, 90): f64, csr
A(i, l) = B(i, j) * B(j, k) * B(k, l)
schedule A { precompute(B(i, j) * B(j, k), {i, k}, {i, k}, W, csr) }
--- stdout
# REDUCE_W: reduce W[:, :]
# FETCH_B: fetch B[:, :]
# FETCH_B_2: fetch B[:, :]
# REDUCE_A: reduce A[:, :]
# FETCH_W: fetch W[:, :]
# FETCH_B_3: fetch B[:, :]
for each processor (in stage 0), active:
    W = open REDUCE_W with W_lo0 = lo[0], W_extent0 = extent[0], W_pos2 = levels[1].arrays[0], W_crd2 = levels[1].arrays[1]
    start FETCH_B
    start FETCH_B_2
    B = wait FETCH_B with B_lo0 = lo[0], B_extent0 = extent[0], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1]
    B_2 = wait FETCH_B_2 with B_2_lo0 = lo[0], B_2_extent0 = extent[0], B_pos2_2 = levels[1].arrays[0], B_crd2_2 = levels[1].arrays[1]
    leaf where active:  # loops: 'W' is sparse
        let i_work = distal_work(&B_pos2[-B_lo0], 90, 32)
        let i_portions = distal_portions(&B_pos2[-B_lo0], 90, i_work)
        for i_portion in 0 .. i_portions:  # distinct, threads, portions, work i_work
            let i_begin = distal_portion_begin(&B_pos2[-B_lo0], 90, i_portions, 0, i_portion)
            let i_end = distal_portion_end(&B_pos2[-B_lo0], 90, i_portions, 0, i_portion)
            for i in i_begin .. i_end:  # distinct
                let B_p1 = i - B_lo0
                let W_p1 = i - W_lo0
                workspace W_row[90]
                let B_begin2 = B_pos2[B_p1]
                let B_end2 = B_pos2[B_p1 + 1]
                for B_p2 in B_begin2 .. B_end2:
                    let j = B_crd2[B_p2]
                    let B_2_p1 = j - B_2_lo0
                    let B_2_begin2 = B_pos2_2[B_2_p1]
                    let B_2_end2 = B_pos2_2[B_2_p1 + 1]
                    let B_value: f64 = B_2_begin2 < B_2_end2 ? B[B_p2] : 0.0
                    for B_2_p2 in B_2_begin2 .. B_2_end2:  # distinct, vector
                        let k = B_crd2_2[B_2_p2]
                        W_row[k] += B_value * B_2[B_2_p2]
                let W_begin2 = W_pos2[W_p1]
                let W_end2 = W_pos2[W_p1 + 1]
                for W_p2 in W_begin2 .. W_end2:
                    let W_c2 = W_crd2[W_p2]
                    W[W_p2] = W_row[W_c2]
                    W_row[W_c2] = 0.0
    release FETCH_B_2
    release FETCH_B
    reduce REDUCE_W
for each processor (in stage 1), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_extent0 = extent[0], A_pos2 = levels[1].arrays[0], A_crd2 = levels[1].arrays[1]
    start FETCH_W
    start FETCH_B_3
    W = wait FETCH_W with W_lo0 = lo[0], W_extent0 = extent[0], W_pos2 = levels[1].arrays[0], W_crd2 = levels[1].arrays[1]
    B = wait FETCH_B_3 with B_lo0 = lo[0], B_extent0 = extent[0], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1]
    leaf where active:  # loops: 'A' is sparse
        let i_work = distal_work(&W_pos2[-W_lo0], 90, 32)
        let i_portions = distal_portions(&W_pos2[-W_lo0], 90, i_work)
        for i_portion in 0 .. i_portions:  # distinct, threads, portions, work i_work
            let i_begin = distal_portion_begin(&W_pos2[-W_lo0], 90, i_portions, 0, i_portion)
            let i_end = distal_portion_end(&W_pos2[-W_lo0], 90, i_portions, 0, i_portion)
            for i in i_begin .. i_end:  # distinct
                let W_p1 = i - W_lo0
                let A_p1 = i - A_lo0
                workspace A_row[90]
                let W_begin2 = W_pos2[W_p1]
                let W_end2 = W_pos2[W_p1 + 1]
                for W_p2 in W_begin2 .. W_end2:
                    let k = W_crd2[W_p2]
                    let B_p1 = k - B_lo0
                    let B_begin2 = B_pos2[B_p1]
                    let B_end2 = B_pos2[B_p1 + 1]
                    let W_value: f64 = B_begin2 < B_end2 ? W[W_p2] : 0.0
                    for B_p2 in B_begin2 .. B_end2:  # distinct, vector
                        let l = B_crd2[B_p2]
                        A_row[l] += W_value * B[B_p2]
                let A_begin2 = A_pos2[A_p1]
                let A_end2 = A_pos2[A_p1 + 1]
                for A_p2 in A_begin2 .. A_end2:
                    let A_c2 = A_crd2[A_p2]
                    A[A_p2] = A_row[A_c2]
                    A_row[A_c2] = 0.0
    release FETCH_B_3
    release FETCH_W
    reduce REDUCE_A

# The entries of the result.
# REDUCE_W: reduce W[:, :]
# FETCH_B: fetch B[:, :]
# FETCH_B_2: fetch B[:, :]
# REDUCE_A: reduce A[:, :]
# FETCH_W: fetch W[:, :]
# FETCH_B_3: fetch B[:, :]
for each processor (in stage 0), active:
    start FETCH_B
    start FETCH_B_2
    B = wait FETCH_B with B_lo0 = lo[0], B_extent0 = extent[0], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1]
    B_2 = wait FETCH_B_2 with B_2_lo0 = lo[0], B_2_extent0 = extent[0], B_pos2_2 = levels[1].arrays[0], B_crd2_2 = levels[1].arrays[1]
    leaf where active:  # loops: 'W' is sparse
        let W_size = 1
        for portion in 0 .. ceil_div(90, W_size):  # distinct, threads, portions, work 1440
            let W_from = portion * W_size
            let W_to = min(portion * W_size + W_size, 90)
            portion portion of REDUCE_W, W_parents2, W_begins2, W_crd2:
                set W_row
                for i in W_from .. W_to:
                    let B_p1 = i - B_lo0
                    let B_begin2 = B_pos2[B_p1]
                    let B_end2 = B_pos2[B_p1 + 1]
                    for B_p2 in B_begin2 .. B_end2:
                        let j = B_crd2[B_p2]
                        let B_2_p1 = j - B_2_lo0
                        let B_2_begin2 = B_pos2_2[B_2_p1]
                        let B_2_end2 = B_pos2_2[B_2_p1 + 1]
                        for B_2_p2 in B_2_begin2 .. B_2_end2:
                            let k = B_crd2_2[B_2_p2]
                            insert k into W_row
                    let W_words = distal_count_set(W_row)
                    if W_words > 0:
                        push (int64_t)i to W_parents2
                        push (int64_t)distal_count_i32(W_crd2) to W_begins2
                        push W_row to W_crd2
    release FETCH_B_2
    release FETCH_B
for each processor (in stage 1), active:
    start FETCH_W
    start FETCH_B_3
    W = wait FETCH_W with W_lo0 = lo[0], W_extent0 = extent[0], W_pos2 = levels[1].arrays[0], W_crd2 = levels[1].arrays[1]
    B = wait FETCH_B_3 with B_lo0 = lo[0], B_extent0 = extent[0], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1]
    leaf where active:  # loops: 'A' is sparse
        let A_size = 1
        for portion in 0 .. ceil_div(90, A_size):  # distinct, threads, portions, work 1440
            let A_from = portion * A_size
            let A_to = min(portion * A_size + A_size, 90)
            portion portion of REDUCE_A, A_parents2, A_begins2, A_crd2:
                set A_row
                for i in A_from .. A_to:
                    let W_p1 = i - W_lo0
                    let W_begin2 = W_pos2[W_p1]
                    let W_end2 = W_pos2[W_p1 + 1]
                    for W_p2 in W_begin2 .. W_end2:
                        let k = W_crd2[W_p2]
                        let B_p1 = k - B_lo0
                        let B_begin2 = B_pos2[B_p1]
                        let B_end2 = B_pos2[B_p1 + 1]
                        for B_p2 in B_begin2 .. B_end2:
                            let l = B_crd2[B_p2]
                            insert l into A_row
                    let A_words = distal_count_set(A_row)
                    if A_words > 0:
                        push (int64_t)i to A_parents2
                        push (int64_t)distal_count_i32(A_crd2) to A_begins2
                        push A_row to A_crd2
    release FETCH_B_3
    release FETCH_W
