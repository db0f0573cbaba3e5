# The result has the first levels of the operand: its positions are those of the operand, and no function appends.
# run: explain {file} --stop-after loops
--- program
param n = 100
tensor A(n, n): f64, dcsr
tensor B(n, n, n): f64, csf
tensor c(n): f64
A(i, j) = B(i, j, k) * c(k)
--- stdout
# REDUCE_A: reduce A[:, :]
# FETCH_B: fetch B[:, :, :]
# FETCH_c: fetch c[:]
for each processor (), active:
    A = open REDUCE_A with A_pos1 = levels[0].arrays[0], A_crd1 = levels[0].arrays[1], A_pos2 = levels[1].arrays[0], A_crd2 = levels[1].arrays[1]
    start FETCH_B
    start FETCH_c
    B = wait FETCH_B with B_pos1 = levels[0].arrays[0], B_crd1 = levels[0].arrays[1], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1], B_pos3 = levels[2].arrays[0], B_crd3 = levels[2].arrays[1]
    c = wait FETCH_c with c_lo0 = lo[0]
    leaf where active && A:  # loops: 'A' is sparse
        let B_begin1 = B_pos1[0]
        let B_end1 = B_pos1[1]
        let work = distal_work(&B_pos2[B_begin1], B_end1 - B_begin1, 16)
        let portions = distal_portions(&B_pos2[B_begin1], B_end1 - B_begin1, work)
        let shared = distal_shared_portions(&B_pos2[B_begin1], B_end1 - B_begin1, portions, work)
        for portion in -shared .. 0:
            let begin = distal_portion_begin(&B_pos2[B_begin1], B_end1 - B_begin1, portions, shared, portion)
            let end = distal_portion_end(&B_pos2[B_begin1], B_end1 - B_begin1, portions, shared, portion)
            for B_p1 in B_begin1 + begin .. B_begin1 + end:  # distinct
                let B_begin2 = B_pos2[B_p1]
                let B_end2 = B_pos2[B_p1 + 1]
                for B_p2 in B_begin2 .. B_end2:  # threads, work (B_end2 - B_begin2) * 16
                    let B_begin3 = B_pos3[B_p2]
                    let B_end3 = B_pos3[B_p2 + 1]
                    workspace sum
                    for B_p3 in B_begin3 .. B_end3:  # sum sum
                        let k = B_crd3[B_p3]
                        sum += B[B_p3] * c[k - c_lo0]
                    A[B_p2] = sum
        for B_p1_portion in 0 .. portions:  # distinct, threads, portions, work work
            let B_p1_begin = distal_portion_begin(&B_pos2[B_begin1], B_end1 - B_begin1, portions, shared, B_p1_portion)
            let B_p1_end = distal_portion_end(&B_pos2[B_begin1], B_end1 - B_begin1, portions, shared, B_p1_portion)
            for B_p1 in B_begin1 + B_p1_begin .. B_begin1 + B_p1_end:  # distinct
                let B_begin2 = B_pos2[B_p1]
                let B_end2 = B_pos2[B_p1 + 1]
                for B_p2 in B_begin2 .. B_end2:  # distinct
                    let B_begin3 = B_pos3[B_p2]
                    let B_end3 = B_pos3[B_p2 + 1]
                    workspace sum
                    for B_p3 in B_begin3 .. B_end3:  # sum sum
                        let k = B_crd3[B_p3]
                        sum += B[B_p3] * c[k - c_lo0]
                    A[B_p2] = sum
    release FETCH_c
    release FETCH_B
    reduce REDUCE_A
