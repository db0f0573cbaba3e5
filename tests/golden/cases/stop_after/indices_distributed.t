# A part of a variable is iterated over by what is stored of it, also where another index follows from the variable:
# the entries of C in the part, for each of which B is searched, and those of B in the part that is moved by one.
# run: explain {file} --stop-after loops
--- program
param n = 100
machine M = grid(2)
tensor a(n): f64
tensor B(n): f64, {compressed}
tensor C(n, n): f64, csr
tensor d(n): f64
tensor e: f64
a(i) = B(j - 1) * C(i, j)
e = B(j - 1) * d(j)
schedule a {
  distribute(j, jo, ji, M)
}
schedule e {
  distribute(j, jo, ji, M)
}
--- stdout
# REDUCE_a: reduce a[:]
# FETCH_B: fetch B[jo * ceil_div(n, 2) - 1 : (jo + 1) * ceil_div(n, 2) - 1]
# FETCH_C: fetch C[:, jo * ceil_div(n, 2) : (jo + 1) * ceil_div(n, 2)]
let n_per_2 = ceil_div(n, 2)
for each processor (jo), active:
    a = open REDUCE_a with a_lo0 = lo[0]
    start FETCH_B
    start FETCH_C
    B = wait FETCH_B with B_pos1 = levels[0].arrays[0], B_crd1 = levels[0].arrays[1]
    C = wait FETCH_C with C_lo0 = lo[0], C_extent0 = extent[0], C_pos2 = levels[1].arrays[0], C_crd2 = levels[1].arrays[1]
    leaf where active && B && C:  # loops: 'B' is sparse
        let ji_end = min(n_per_2, n - jo * n_per_2)
        let B_pos1_value: i64 = n > 0 ? B_pos1[0] : 0L
        let B_pos1_value_2: i64 = n > 0 ? B_pos1[1] : 0L
        let i_work = distal_work(&C_pos2[-C_lo0], n, 1)
        let i_portions = distal_portions(&C_pos2[-C_lo0], n, i_work)
        for i_portion in 0 .. i_portions:  # distinct, threads, portions, work i_work
            let i_begin = distal_portion_begin(&C_pos2[-C_lo0], n, i_portions, 0, i_portion)
            let i_end = distal_portion_end(&C_pos2[-C_lo0], n, i_portions, 0, i_portion)
            for i in i_begin .. i_end:  # distinct
                let C_p1 = i - C_lo0
                let B_begin1 = B_pos1_value
                let B_end1 = B_pos1_value_2
                let B_from1 = distal_search_i32(&B_crd1[0], B_begin1, B_end1, jo * n_per_2 - 1)
                let B_to1 = distal_search_i32(&B_crd1[0], B_from1, B_end1, jo * n_per_2 + ji_end - 1)
                workspace B_at1
                B_at1 = B_from1
                let C_begin2 = C_pos2[C_p1]
                let C_end2 = C_pos2[C_p1 + 1]
                let C_from2 = distal_search_i32(&C_crd2[0], C_begin2, C_end2, jo * n_per_2)
                let C_to2 = distal_search_i32(&C_crd2[0], C_from2, C_end2, jo * n_per_2 + ji_end)
                workspace C_at2
                C_at2 = C_from2
                let a_at = i - a_lo0
                while B_at1 < B_to1 && C_at2 < C_to2:
                    let B_p1 = B_at1
                    let B_c1 = B_crd1[B_p1]
                    let B_c1_2 = B_c1 + 1
                    let C_p2 = C_at2
                    let C_c2 = C_crd2[C_p2]
                    let j = max(B_c1_2, C_c2)
                    let ji = j - jo * n_per_2
                    let B_has1 = B_c1_2 == j
                    let B_next1 = B_has1 ? B_p1 + 1 : B_p1
                    let C_has2 = C_c2 == j
                    let C_next2 = C_has2 ? C_p2 + 1 : C_p2
                    let j_index = jo * n_per_2 + ji - 1
                    if j_index > -1:
                        if B_has1 && C_has2:
                            a[a_at] += B[B_p1] * C[C_p2]
                    let B_jump1 = B_has1 && C_has2 ? B_next1 : distal_search_i32(&B_crd1[0], B_p1, B_to1, j - 1)
                    let C_jump2 = B_has1 && C_has2 ? C_next2 : distal_search_i32(&C_crd2[0], C_p2, C_to2, j)
                    B_at1 = B_jump1
                    C_at2 = C_jump2
    release FETCH_C
    release FETCH_B
    reduce REDUCE_a

# REDUCE_e: reduce e
# FETCH_B: fetch B[jo * ceil_div(n, 2) - 1 : (jo + 1) * ceil_div(n, 2) - 1]
# FETCH_d: fetch d[jo * ceil_div(n, 2) : (jo + 1) * ceil_div(n, 2)]
let n_per_2 = ceil_div(n, 2)
for each processor (jo), active:
    e = open REDUCE_e
    start FETCH_B
    start FETCH_d
    B = wait FETCH_B with B_pos1 = levels[0].arrays[0], B_crd1 = levels[0].arrays[1]
    d = wait FETCH_d with d_lo0 = lo[0]
    leaf where active && B && e:  # loops: 'B' is sparse
        let ji_end = min(n_per_2, n - jo * n_per_2)
        let B_begin1 = B_pos1[0]
        let B_end1 = B_pos1[1]
        let B_from1 = distal_search_i32(&B_crd1[0], B_begin1, B_end1, jo * n_per_2 - 1)
        let B_to1 = distal_search_i32(&B_crd1[0], B_from1, B_end1, jo * n_per_2 + ji_end - 1)
        workspace sum
        for B_p1 in B_from1 .. B_to1:  # threads, sum sum, work B_to1 - B_from1
            let j_index = B_crd1[B_p1]
            let j = j_index + 1
            if j_index > -1:
                sum += B[B_p1] * d[j - d_lo0]
        e[0] += sum
    release FETCH_d
    release FETCH_B
    reduce REDUCE_e
