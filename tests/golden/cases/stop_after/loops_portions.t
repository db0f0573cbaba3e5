# Threads take rows by rows and entries, in portions that the runtime gives, also where rows have bits; those of a
# dense matrix take equal times. The work of a team is that of the rows that it shares.
# run: explain --stop-after loops:portions {file}
--- program
param n = 100000
tensor B(n, n): f64, dcsr
tensor C(n, n): f64
tensor x(n): f64
tensor y(n): f64
tensor z(n): f64
tensor D(n, n): f64, {bitmap, compressed}
y(i) = B(i, j) * x(j)
z(i) = C(i, j) * x(j)
y(i) = D(i, j) * x(j)
y(j) = D(i, j) * x(i)
schedule z {
  parallelize(i, cpu_thread)
}
--- stdout
# REDUCE_y: reduce y[:]
# FETCH_B: fetch B[:, :]
# FETCH_x: fetch x[:]
for each processor (), active:
    y = open REDUCE_y with y_lo0 = lo[0]
    start FETCH_B
    start FETCH_x
    B = wait FETCH_B with B_pos1 = levels[0].arrays[0], B_crd1 = levels[0].arrays[1], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1]
    x = wait FETCH_x with x_lo0 = lo[0]
    leaf where active && y:  # loops: 'B' is sparse
        let B_begin1 = B_pos1[0]
        let B_end1 = B_pos1[1]
        let work = distal_work(&B_pos2[B_begin1], B_end1 - B_begin1, 1)
        let portions = distal_portions(&B_pos2[B_begin1], B_end1 - B_begin1, work)
        let shared = distal_shared_portions(&B_pos2[B_begin1], B_end1 - B_begin1, portions, work)
        for portion in -shared .. 0:
            let begin = distal_portion_begin(&B_pos2[B_begin1], B_end1 - B_begin1, portions, shared, portion)
            let end = distal_portion_end(&B_pos2[B_begin1], B_end1 - B_begin1, portions, shared, portion)
            for B_p1 in B_begin1 + begin .. B_begin1 + end:  # distinct
                let i = B_crd1[B_p1]
                let B_begin2 = B_pos2[B_p1]
                let B_end2 = B_pos2[B_p1 + 1]
                workspace sum
                workspace sum_parts[64]
                for B_p1_part in 0 .. 64:  # threads, work B_end2 - B_begin2
                    let begin_2 = distal_part_begin(B_end2 - B_begin2, 64, B_p1_part)
                    let end_2 = distal_part_begin(B_end2 - B_begin2, 64, B_p1_part + 1)
                    workspace sum_part
                    for B_p2 in B_begin2 + begin_2 .. B_begin2 + end_2:  # sum sum_part
                        let j = B_crd2[B_p2]
                        sum_part += B[B_p2] * x[j - x_lo0]
                    sum_parts[B_p1_part] = sum_part
                for B_p1_part in 0 .. 64:
                    sum += sum_parts[B_p1_part]
                y[i - y_lo0] += sum
        for B_p1_portion in 0 .. portions:  # distinct, threads, portions, work work
            let B_p1_begin = distal_portion_begin(&B_pos2[B_begin1], B_end1 - B_begin1, portions, shared, B_p1_portion)
            let B_p1_end = distal_portion_end(&B_pos2[B_begin1], B_end1 - B_begin1, portions, shared, B_p1_portion)
            for B_p1 in B_begin1 + B_p1_begin .. B_begin1 + B_p1_end:  # distinct
                let i = B_crd1[B_p1]
                let B_begin2 = B_pos2[B_p1]
                let B_end2 = B_pos2[B_p1 + 1]
                workspace sum
                for B_p2 in B_begin2 .. B_end2:  # sum sum
                    let j = B_crd2[B_p2]
                    sum += B[B_p2] * x[j - x_lo0]
                y[i - y_lo0] += sum
    release FETCH_x
    release FETCH_B
    reduce REDUCE_y

# REDUCE_z: reduce z[:]
# FETCH_C: fetch C[:, :]
# FETCH_x: fetch x[:]
for each processor (), active:
    z = open REDUCE_z with z_lo0 = lo[0]
    start FETCH_C
    start FETCH_x
    C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    x = wait FETCH_x with x_lo0 = lo[0]
    leaf where active && z:  # loops: the schedule says how 'i' is executed
        let i_blocks_end = max(0, n) / 4 * 4
        for i in 0 .. i_blocks_end by 4:  # distinct, threads, work n * n
            workspace sum
            workspace sum_2
            workspace sum_3
            workspace sum_4
            for j in 0 .. n:  # vector, sum sum, sum sum_2, sum sum_3, sum sum_4
                sum += C[(i - C_lo0) * C_stride0 + j - C_lo1] * x[j - x_lo0]
                sum_2 += C[(i + 1 - C_lo0) * C_stride0 + j - C_lo1] * x[j - x_lo0]
                sum_3 += C[(i + 2 - C_lo0) * C_stride0 + j - C_lo1] * x[j - x_lo0]
                sum_4 += C[(i + 3 - C_lo0) * C_stride0 + j - C_lo1] * x[j - x_lo0]
            z[i - z_lo0] += sum
            z[i + 1 - z_lo0] += sum_2
            z[i + 2 - z_lo0] += sum_3
            z[i + 3 - z_lo0] += sum_4
        for i in i_blocks_end .. n:  # distinct
            workspace sum
            for j in 0 .. n:  # vector, sum sum
                sum += C[(i - C_lo0) * C_stride0 + j - C_lo1] * x[j - x_lo0]
            z[i - z_lo0] += sum
    release FETCH_x
    release FETCH_C
    reduce REDUCE_z

# REDUCE_y: reduce y[:]
# FETCH_D: fetch D[:, :]
# FETCH_x: fetch x[:]
for each processor (), active:
    y = open REDUCE_y with y_lo0 = lo[0]
    start FETCH_D
    start FETCH_x
    D = wait FETCH_D with D_bits1 = levels[0].arrays[0], D_pos2 = levels[1].arrays[0], D_crd2 = levels[1].arrays[1]
    x = wait FETCH_x with x_lo0 = lo[0]
    leaf where active && y:  # loops: 'D' is sparse
        let i_work = distal_work(&D_pos2[0], n, 1)
        let i_portions = distal_portions(&D_pos2[0], n, i_work)
        let i_shared = distal_shared_portions(&D_pos2[0], n, i_portions, i_work)
        for i_portion in -i_shared .. 0:
            let i_begin = distal_portion_begin(&D_pos2[0], n, i_portions, i_shared, i_portion)
            let i_end = distal_portion_end(&D_pos2[0], n, i_portions, i_shared, i_portion)
            for i in i_begin .. i_end:  # distinct
                let D_has1 = distal_has_bit(&D_bits1[0], i)
                let D_next1 = D_has1 ? i + 1 : i
                if D_has1:
                    let D_begin2 = D_pos2[i]
                    let D_end2 = D_pos2[i + 1]
                    workspace sum
                    workspace sum_parts[64]
                    for i_part in 0 .. 64:  # threads, work D_end2 - D_begin2
                        let begin = distal_part_begin(D_end2 - D_begin2, 64, i_part)
                        let end = distal_part_begin(D_end2 - D_begin2, 64, i_part + 1)
                        workspace sum_part
                        for D_p2 in D_begin2 + begin .. D_begin2 + end:  # sum sum_part
                            let j = D_crd2[D_p2]
                            sum_part += D[D_p2] * x[j - x_lo0]
                        sum_parts[i_part] = sum_part
                    for i_part in 0 .. 64:
                        sum += sum_parts[i_part]
                    y[i - y_lo0] += sum
        for i_portion in 0 .. i_portions:  # distinct, threads, portions, work i_work
            let i_begin = distal_portion_begin(&D_pos2[0], n, i_portions, i_shared, i_portion)
            let i_end = distal_portion_end(&D_pos2[0], n, i_portions, i_shared, i_portion)
            for i in i_begin .. i_end:  # distinct
                let D_has1 = distal_has_bit(&D_bits1[0], i)
                let D_next1 = D_has1 ? i + 1 : i
                if D_has1:
                    let D_begin2 = D_pos2[i]
                    let D_end2 = D_pos2[i + 1]
                    workspace sum
                    for D_p2 in D_begin2 .. D_end2:  # sum sum
                        let j = D_crd2[D_p2]
                        sum += D[D_p2] * x[j - x_lo0]
                    y[i - y_lo0] += sum
    release FETCH_x
    release FETCH_D
    reduce REDUCE_y

# REDUCE_y: reduce y[:]
# FETCH_D: fetch D[:, :]
# FETCH_x: fetch x[:]
for each processor (), active:
    y = open REDUCE_y with y_lo0 = lo[0]
    start FETCH_D
    start FETCH_x
    D = wait FETCH_D with D_bits1 = levels[0].arrays[0], D_pos2 = levels[1].arrays[0], D_crd2 = levels[1].arrays[1]
    x = wait FETCH_x with x_lo0 = lo[0]
    leaf where active && y:  # loops: 'D' is sparse
        let i_work = distal_work(&D_pos2[0], n, 1)
        let i_portions = distal_portions(&D_pos2[0], n, i_work)
        let i_shared = distal_shared_portions(&D_pos2[0], n, i_portions, i_work)
        team, each thread with y_own for y:
            for i_portion in -i_shared .. 0:
                let i_begin = distal_portion_begin(&D_pos2[0], n, i_portions, i_shared, i_portion)
                let i_end = distal_portion_end(&D_pos2[0], n, i_portions, i_shared, i_portion)
                for i in i_begin .. i_end:
                    let D_has1 = distal_has_bit(&D_bits1[0], i)
                    let D_next1 = D_has1 ? i + 1 : i
                    if D_has1:
                        let D_begin2 = D_pos2[i]
                        let D_end2 = D_pos2[i + 1]
                        let x_value: f64 = D_begin2 < D_end2 ? x[i - x_lo0] : 0.0
                        for D_p2 in D_begin2 .. D_end2:  # threads, vector
                            let j = D_crd2[D_p2]
                            y_own[j - y_lo0] += D[D_p2] * x_value
            for i_portion in 0 .. i_portions:  # threads, portions, work i_work
                let i_begin = distal_portion_begin(&D_pos2[0], n, i_portions, i_shared, i_portion)
                let i_end = distal_portion_end(&D_pos2[0], n, i_portions, i_shared, i_portion)
                for i in i_begin .. i_end:
                    let D_has1 = distal_has_bit(&D_bits1[0], i)
                    let D_next1 = D_has1 ? i + 1 : i
                    if D_has1:
                        let D_begin2 = D_pos2[i]
                        let D_end2 = D_pos2[i + 1]
                        let x_value: f64 = D_begin2 < D_end2 ? x[i - x_lo0] : 0.0
                        for D_p2 in D_begin2 .. D_end2:  # distinct, vector
                            let j = D_crd2[D_p2]
                            y_own[j - y_lo0] += D[D_p2] * x_value
    release FETCH_x
    release FETCH_D
    reduce REDUCE_y
