# The entries of A do not depend on j: the function that finds them has no loop over it, and defines nothing from it.
# run: explain --stop-after loops {file}
--- program
param n = 6
tensor A(n): f64, {compressed}
tensor B(n, n): f64, {compressed, dense}
tensor C(n, n): f64
A(l) = B(l, i) * C(i, j)
schedule A {
  rotate(j, {l, i}, js)
  reorder({l, js, i})
}
--- stdout
# REDUCE_A: reduce A[:]
# FETCH_B: fetch B[:, :]
# FETCH_C: fetch C[:, :]
for each processor (), active:
    A = open REDUCE_A with A_pos1 = levels[0].arrays[0], A_crd1 = levels[0].arrays[1]
    start FETCH_B
    start FETCH_C
    B = wait FETCH_B with B_lo1 = lo[1], B_extent1 = extent[1], B_pos1 = levels[0].arrays[0], B_crd1 = levels[0].arrays[1]
    C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    leaf where active && A:  # loops: 'A' is sparse
        let B_begin1 = B_pos1[0]
        let B_end1 = B_pos1[1]
        let A_pos1_value: i64 = B_begin1 < B_end1 ? A_pos1[0] : 0L
        let A_pos1_value_2: i64 = B_begin1 < B_end1 ? A_pos1[1] : 0L
        let i_strips_end = max(0, n) / 32 * 32
        let i_strips_end_2 = max(0, n) / 8 * 8
        for B_p1 in B_begin1 .. B_end1:  # distinct, threads, work (B_end1 - B_begin1) * n * n
            let l = B_crd1[B_p1]
            let A_begin1 = A_pos1_value
            let A_end1 = A_pos1_value_2
            let A_p1 = distal_search_i32(&A_crd1[0], A_begin1, A_end1, l)
            for js in 0 .. n:
                workspace sum
                for i_strip in 0 .. i_strips_end by 32:
                    for i_in in 0 .. 32:  # vector, sum sum
                        let i = i_strip + i_in
                        let j = (js + l + i) % n
                        let B_p2 = B_p1 * B_extent1 + (i - B_lo1)
                        sum += B[B_p2] * C[(i - C_lo0) * C_stride0 + j - C_lo1]
                for i_strip in i_strips_end .. i_strips_end_2 by 8:
                    for i_in in 0 .. 8:  # vector, sum sum
                        let i = i_strip + i_in
                        let j = (js + l + i) % n
                        let B_p2 = B_p1 * B_extent1 + (i - B_lo1)
                        sum += B[B_p2] * C[(i - C_lo0) * C_stride0 + j - C_lo1]
                if i_strips_end_2 < n:
                    for i in i_strips_end_2 .. n:  # vector, sum sum
                        let j = (js + l + i) % n
                        let B_p2 = B_p1 * B_extent1 + (i - B_lo1)
                        sum += B[B_p2] * C[(i - C_lo0) * C_stride0 + j - C_lo1]
                if n > 0:
                    A[A_p1] += sum
    release FETCH_C
    release FETCH_B
    reduce REDUCE_A

# The entries of the result.
# REDUCE_A: reduce A[:]
# FETCH_B: fetch B[:, :]
# FETCH_C: fetch C[:, :]
for each processor (), active:
    B = fetch FETCH_B with B_lo1 = lo[1], B_extent1 = extent[1], B_pos1 = levels[0].arrays[0], B_crd1 = levels[0].arrays[1]
    leaf where active:  # loops: 'A' is sparse
        let B_begin1 = B_pos1[0]
        let B_end1 = B_pos1[1]
        let A_size = max(1, ceil_div(B_end1 - B_begin1, 512))
        for portion in 0 .. ceil_div(B_end1 - B_begin1, A_size):  # distinct, threads, portions, work 16 * (B_end1 - B_begin1) * n
            let A_from = B_begin1 + portion * A_size
            let A_to = min(B_begin1 + portion * A_size + A_size, B_end1)
            portion portion of REDUCE_A, A_crd1:
                workspace A_last1
                A_last1 = -1
                for B_p1 in A_from .. A_to:
                    let l = B_crd1[B_p1]
                    for i in 0 .. n:
                        if A_last1 < l:
                            A_last1 = l
                            push (int32_t)l to A_crd1
    release FETCH_B
