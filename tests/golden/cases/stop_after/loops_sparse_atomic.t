# Only some iterations that threads share update the element, which may be missing: no sum, but atomic updates.
# run: explain --stop-after loops {file}
--- program
param n = 3, m = 30
tensor A(n, 6): f64, {compressed(nonunique), singleton}
tensor B(n, m, n): f64, {dense, bitmap, bitmap}
A(i, j) = B(i, l, k)
schedule A {
  parallelize(l, cpu_thread, reduction)
}
--- stdout
# REDUCE_A: reduce A[:, :]
# FETCH_B: fetch B[:, :, :]
for each processor (), active:
    A = open REDUCE_A with A_pos1 = levels[0].arrays[0], A_crd1 = levels[0].arrays[1], A_crd2 = levels[1].arrays[0]
    B = fetch FETCH_B with B_lo0 = lo[0], B_extent0 = extent[0], B_bits2 = levels[1].arrays[0], B_bits3 = levels[2].arrays[0]
    leaf where active:  # loops: 'A' is sparse
        let A_pos1_value: i64 = n > 0 ? A_pos1[0] : 0L
        let A_pos1_value_2: i64 = n > 0 ? A_pos1[1] : 0L
        for i in 0 .. n:  # distinct
            let B_p1 = i - B_lo0
            let A_begin1 = A_pos1_value
            let A_end1 = A_pos1_value_2
            let A_p1 = distal_search_i32(&A_crd1[0], A_begin1, A_end1, i)
            let A_has1 = A_p1 < A_end1 && A_crd1[A_p1] == i
            let A_next1 = A_has1 ? distal_run_end_i32(&A_crd1[0], A_p1, A_end1) : A_p1
            workspace A_at2
            A_at2 = A_p1
            for j in 0 .. 6:
                let A_from2 = A_at2
                let A_p2 = distal_search_i32(&A_crd2[0], A_from2, A_next1, j)
                A_at2 = A_p2
                for l in 0 .. m:  # threads, work m * n
                    let B_p2 = B_p1 * m + l
                    let B_has2 = distal_has_bit(&B_bits2[0], B_p2)
                    if B_has2:
                        for k in 0 .. n:
                            let B_p3 = B_p2 * n + k
                            let B_has3 = distal_has_bit(&B_bits3[0], B_p3)
                            if B_has3:
                                A[A_p2] += B[B_p3]  # atomic
    release FETCH_B
    reduce REDUCE_A

# The entries of the result.
# REDUCE_A: reduce A[:, :]
# FETCH_B: fetch B[:, :, :]
let n_per_512 = ceil_div(n, 512)
for each processor (), active:
    B = fetch FETCH_B with B_lo0 = lo[0], B_extent0 = extent[0], B_bits2 = levels[1].arrays[0], B_bits3 = levels[2].arrays[0]
    leaf where active:  # loops: 'A' is sparse
        let A_size = max(1, n_per_512)
        for portion in 0 .. ceil_div(n, A_size):  # distinct, threads, portions, work 16 * n * 6 * m * n
            let A_from = portion * A_size
            let A_to = min(portion * A_size + A_size, n)
            portion portion of REDUCE_A, A_crd1, A_crd2:
                workspace A_last1
                A_last1 = -1
                workspace A_last2
                A_last2 = -1
                for i in A_from .. A_to:
                    let B_p1 = i - B_lo0
                    for j in 0 .. 6:
                        for l in 0 .. m:
                            let B_p2 = B_p1 * m + l
                            let B_has2 = distal_has_bit(&B_bits2[0], B_p2)
                            if B_has2:
                                for k in 0 .. n:
                                    let B_p3 = B_p2 * n + k
                                    let B_has3 = distal_has_bit(&B_bits3[0], B_p3)
                                    if B_has3:
                                        if A_last1 < i || A_last2 < j:
                                            A_last1 = i
                                            push (int32_t)i to A_crd1
                                            A_last2 = j
                                            push (int32_t)j to A_crd2
    release FETCH_B
