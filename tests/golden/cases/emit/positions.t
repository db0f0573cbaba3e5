# Positions in equal parts: of the levels above, where a part begins and ends is searched once.
# run: explain {file} --stop-after loops
--- program
param n = 100
tensor B(n, n, n): f64, {dense, compressed, compressed}
tensor S(n, n): f64, coo
tensor x(n): f64
tensor y(n): f64
tensor A(n, n): f64

A(i, j) = B(i, j, k) * x(k)
schedule A { collapse(i, j, f); collapse(f, k, g); pos(g, p, B(i, j, k)); split(p, po, pi, 64); parallelize(po, cpu_thread, reduction) }
y(i) = S(i, j) * x(j)
schedule y { collapse(i, j, f); pos(f, p, S(i, j)); parallelize(p, cpu_thread, atomic) }
y(i) = S(i, j) * x(j)
schedule y { collapse(i, j, f); pos(f, p, S(i, j)); split(p, po, pi, 64); reorder({pi, po}) }
--- stdout
# REDUCE_A: reduce A[:, :]
# FETCH_B: fetch B[:, :, :]
# FETCH_x: fetch x[:]
for each processor (), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    start FETCH_B
    start FETCH_x
    B = wait FETCH_B with B_lo0 = lo[0], B_extent0 = extent[0], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1], B_pos3 = levels[2].arrays[0], B_crd3 = levels[2].arrays[1]
    x = wait FETCH_x with x_lo0 = lo[0]
    leaf where active && A:  # loops: 'B' is sparse
        let B_begin2 = B_pos2[0]
        let B_end2 = B_pos2[B_extent0]
        let B_begin3 = B_pos3[B_begin2]
        let B_end3 = B_pos3[B_end2]
        let p_count = B_end3 - B_begin3
        let po_end = ceil_div(p_count, 64)
        for po in 0 .. po_end:  # threads, work p_count
            let pi_end = min(64, p_count - po * 64)
            let B_from3 = B_begin3 + po * 64
            let B_to3 = B_from3 + pi_end
            let B_last3 = B_to3 - 1
            if B_from3 < B_to3:
                let B_from2 = distal_above(&B_pos3[0], B_begin2, B_end2, B_from3)
                let B_last2 = distal_above(&B_pos3[0], B_from2, B_end2, B_last3)
                let B_from1 = distal_above(&B_pos2[0], 0, B_extent0, B_from2)
                let B_last1 = distal_above(&B_pos2[0], B_from1, B_extent0, B_last2)
                for B_p1 in B_from1 .. B_last1 + 1:  # distinct
                    let i = B_p1 + B_lo0
                    let B_first2 = B_pos2[B_p1]
                    let B_after2 = B_pos2[B_p1 + 1]
                    let B_begin2_2 = max(B_from2, B_first2)
                    let B_end2_2 = min(B_last2 + 1, B_after2)
                    let A_at = (i - A_lo0) * A_stride0 - A_lo1
                    for B_p2 in B_begin2_2 .. B_end2_2:  # distinct
                        let j = B_crd2[B_p2]
                        if B_from2 < B_p2 && B_p2 < B_last2:
                            let B_first3 = B_pos3[B_p2]
                            let B_after3 = B_pos3[B_p2 + 1]
                            let B_begin3_2 = max(B_from3, B_first3)
                            let B_end3_2 = min(B_to3, B_after3)
                            workspace sum
                            for B_p3 in B_begin3_2 .. B_end3_2:  # sum sum
                                let k = B_crd3[B_p3]
                                sum += B[B_p3] * x[k - x_lo0]
                            A[A_at + j] += sum
                        if B_p2 == B_from2 || B_p2 == B_last2:
                            let B_first3 = B_pos3[B_p2]
                            let B_after3 = B_pos3[B_p2 + 1]
                            let B_begin3_2 = max(B_from3, B_first3)
                            let B_end3_2 = min(B_to3, B_after3)
                            workspace sum
                            for B_p3 in B_begin3_2 .. B_end3_2:  # sum sum
                                let k = B_crd3[B_p3]
                                sum += B[B_p3] * x[k - x_lo0]
                            A[A_at + j] += sum  # atomic
    release FETCH_x
    release FETCH_B
    reduce REDUCE_A

# REDUCE_y: reduce y[:]
# FETCH_S: fetch S[:, :]
# FETCH_x: fetch x[:]
for each processor (), active:
    y = open REDUCE_y with y_lo0 = lo[0]
    start FETCH_S
    start FETCH_x
    S = wait FETCH_S with S_pos1 = levels[0].arrays[0], S_crd1 = levels[0].arrays[1], S_crd2 = levels[1].arrays[0]
    x = wait FETCH_x with x_lo0 = lo[0]
    leaf where active:  # loops: 'S' is sparse
        let S_begin1 = S_pos1[0]
        let S_end1 = S_pos1[1]
        let p_count = S_end1 - S_begin1
        let p_parts = distal_parts(1)
        for p_part in 0 .. p_parts:  # threads, work p_count
            let p_start = distal_part_begin(p_count, p_parts, p_part)
            let p_after = distal_part_begin(p_count, p_parts, p_part + 1)
            let S_from2 = S_begin1 + p_start
            let S_to2 = S_from2 + (p_after - p_start)
            let S_last2 = S_to2 - 1
            if S_from2 < S_to2:
                let S_crd1_value: i32 = S_from2 < S_last2 + 1 ? S_crd1[S_from2] : 0
                let S_crd1_value_2: i32 = S_from2 < S_last2 + 1 ? S_crd1[S_last2] : 0
                for S_p1 in S_from2 .. S_last2 + 1:
                    let i = S_crd1[S_p1]
                    let S_least1 = S_crd1_value
                    let S_greatest1 = S_crd1_value_2
                    if S_least1 < i && i < S_greatest1:
                        let j = S_crd2[S_p1]
                        y[i - y_lo0] += S[S_p1] * x[j - x_lo0]
                    if i == S_least1 || i == S_greatest1:
                        let j = S_crd2[S_p1]
                        y[i - y_lo0] += S[S_p1] * x[j - x_lo0]  # atomic
    release FETCH_x
    release FETCH_S
    reduce REDUCE_y

# REDUCE_y: reduce y[:]
# FETCH_S: fetch S[:, :]
# FETCH_x: fetch x[:]
for each processor (), active:
    y = open REDUCE_y with y_lo0 = lo[0]
    start FETCH_S
    start FETCH_x
    S = wait FETCH_S with S_pos1 = levels[0].arrays[0], S_crd1 = levels[0].arrays[1], S_crd2 = levels[1].arrays[0]
    x = wait FETCH_x with x_lo0 = lo[0]
    leaf where active && y:  # loops: 'S' is sparse
        let S_begin1 = S_pos1[0]
        let S_end1 = S_pos1[1]
        let p_count = S_end1 - S_begin1
        team, each thread with y_own for y:
            for pi in 0 .. 64:  # threads
                let po_end = ceil_div(p_count - pi, 64)
                for po in 0 .. po_end:
                    let p = po * 64 + pi
                    let S_from2 = S_begin1 + p
                    let S_to2 = S_from2 + 1
                    let S_last2 = S_to2 - 1
                    if S_from2 < S_to2:
                        for S_p1 in S_from2 .. S_last2 + 1:
                            let i = S_crd1[S_p1]
                            let j = S_crd2[S_p1]
                            y_own[i - y_lo0] += S[S_p1] * x[j - x_lo0]
    release FETCH_x
    release FETCH_S
    reduce REDUCE_y
