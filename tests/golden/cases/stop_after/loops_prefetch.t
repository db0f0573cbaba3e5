# Rows of D are prefetched for entries further on, in blocks and in strips; those of C, which is read in order, and
# elements of x are not. Rows of V are read inside of a fiber, and prefetched before it; those of W are added to.
# run: explain --stop-after loops:prefetch {file}
--- program
param n = 100000, r = 100000, w = 40, q = 40
tensor A(n, r): f64, csr
tensor B(n, r): f64, csr
tensor C(n, w): f64
tensor D(r, w): f64
tensor E(n, w): f32
tensor F(n, r): f32, {dense, compressed}
tensor G(r, w): f32
tensor y(n): f64
tensor x(r): f64
A(i, j) = B(i, j) * C(i, k) * D(j, k)
E(i, k) = F(i, j) * G(j, k)
y(i) = B(i, j) * x(j)
tensor T(n, r, w): f64, csf
tensor U(n, q): f64
tensor V(r, q): f64
tensor W(w, q): f64
W(k, l) = T(i, j, k) * U(i, l) * V(j, l)
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
    B = wait FETCH_B with B_lo0 = lo[0], B_extent0 = extent[0], B_count2 = levels[1].position_count, B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1]
    C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    D = wait FETCH_D with D_lo0 = lo[0], D_stride0 = stride[0], D_lo1 = lo[1]
    leaf where active && A:  # loops: 'A' is sparse
        let B_crd2_prefetch_end = distal_prefetch_end_i32(&B_crd2[0], B_count2, D_stride0 * 8, 32)
        for i in 0 .. n:  # distinct, threads, uneven, work 16 * n * w
            let B_p1 = i - B_lo0
            let B_begin2 = B_pos2[B_p1]
            let B_end2 = B_pos2[B_p1 + 1]
            for B_p2 in B_begin2 .. B_end2:  # distinct
                let j = B_crd2[B_p2]
                workspace sum
                let B_value: f64 = w > 0 ? B[B_p2] : 0.0
                let k_strips_end = max(0, w) / 32 * 32
                for k_strip in 0 .. k_strips_end by 32:
                    if B_p2 < B_crd2_prefetch_end:
                        let j_prefetched = B_crd2[B_p2 + 16]
                        distal_prefetch(&D[(j_prefetched - D_lo0) * D_stride0 + k_strip - D_lo1], 256)
                    for k_in in 0 .. 32:  # vector, sum sum
                        let k = k_strip + k_in
                        sum += B_value * C[(i - C_lo0) * C_stride0 + k - C_lo1] * D[(j - D_lo0) * D_stride0 + k - D_lo1]
                let k_strips_end_2 = max(0, w) / 8 * 8
                for k_strip in k_strips_end .. k_strips_end_2 by 8:
                    if B_p2 < B_crd2_prefetch_end:
                        let j_prefetched = B_crd2[B_p2 + 32]
                        distal_prefetch(&D[(j_prefetched - D_lo0) * D_stride0 + k_strip - D_lo1], 64)
                    for k_in in 0 .. 8:  # vector, sum sum
                        let k = k_strip + k_in
                        sum += B_value * C[(i - C_lo0) * C_stride0 + k - C_lo1] * D[(j - D_lo0) * D_stride0 + k - D_lo1]
                if k_strips_end_2 < w:
                    for k in k_strips_end_2 .. w:  # vector, sum sum
                        sum += B_value * C[(i - C_lo0) * C_stride0 + k - C_lo1] * D[(j - D_lo0) * D_stride0 + k - D_lo1]
                A[B_p2] = sum
    release FETCH_D
    release FETCH_C
    release FETCH_B
    reduce REDUCE_A

# REDUCE_E: reduce E[:, :]
# FETCH_F: fetch F[:, :]
# FETCH_G: fetch G[:, :]
for each processor (), active:
    E = open REDUCE_E with E_lo0 = lo[0], E_stride0 = stride[0], E_lo1 = lo[1]
    start FETCH_F
    start FETCH_G
    F = wait FETCH_F with F_lo0 = lo[0], F_extent0 = extent[0], F_count2 = levels[1].position_count, F_pos2 = levels[1].arrays[0], F_crd2 = levels[1].arrays[1]
    G = wait FETCH_G with G_lo0 = lo[0], G_stride0 = stride[0], G_lo1 = lo[1]
    leaf where active && E:  # loops: 'F' is sparse
        let F_crd2_prefetch_end = distal_prefetch_end_i32(&F_crd2[0], F_count2, G_stride0 * 4, 32)
        for i in 0 .. n:  # distinct, threads, uneven, work 16 * n * w
            let F_p1 = i - F_lo0
            let F_begin2 = F_pos2[F_p1]
            let F_end2 = F_pos2[F_p1 + 1]
            let k_blocks_end = max(0, w) / 64 * 64
            for k_block in 0 .. k_blocks_end by 64:
                workspace E_block[64] = 0
                for F_p2 in F_begin2 .. F_end2:
                    let j = F_crd2[F_p2]
                    let F_value: f32 = F[F_p2]
                    if F_p2 < F_crd2_prefetch_end:
                        let j_prefetched = F_crd2[F_p2 + 16]
                        distal_prefetch(&G[(j_prefetched - G_lo0) * G_stride0 + k_block - G_lo1], 256)
                    for k_in in 0 .. 64:  # distinct, vector
                        let k = k_block + k_in
                        E_block[k_in] += F_value * G[(j - G_lo0) * G_stride0 + k - G_lo1]
                for k_in in 0 .. 64:  # distinct, vector
                    let k = k_block + k_in
                    E[(i - E_lo0) * E_stride0 + k - E_lo1] = E_block[k_in]
            let k_blocks_end_2 = max(0, w) / 16 * 16
            for k_block in k_blocks_end .. k_blocks_end_2 by 16:
                workspace E_block[16] = 0
                for F_p2 in F_begin2 .. F_end2:
                    let j = F_crd2[F_p2]
                    let F_value: f32 = F[F_p2]
                    if F_p2 < F_crd2_prefetch_end:
                        let j_prefetched = F_crd2[F_p2 + 32]
                        distal_prefetch(&G[(j_prefetched - G_lo0) * G_stride0 + k_block - G_lo1], 64)
                    for k_in in 0 .. 16:  # distinct, vector
                        let k = k_block + k_in
                        E_block[k_in] += F_value * G[(j - G_lo0) * G_stride0 + k - G_lo1]
                for k_in in 0 .. 16:  # distinct, vector
                    let k = k_block + k_in
                    E[(i - E_lo0) * E_stride0 + k - E_lo1] = E_block[k_in]
            if k_blocks_end_2 < w:
                workspace E_block[16] = 0
                for F_p2 in F_begin2 .. F_end2:
                    let j = F_crd2[F_p2]
                    let F_value: f32 = F[F_p2]
                    if F_p2 < F_crd2_prefetch_end:
                        let j_prefetched = F_crd2[F_p2 + 32]
                        distal_prefetch(&G[(j_prefetched - G_lo0) * G_stride0 + k_blocks_end_2 - G_lo1], 64)
                    for k_in in 0 .. 16:  # distinct, vector
                        let k = k_blocks_end_2 + k_in
                        E_block[k_in] += k < w ? F_value * G[(j - G_lo0) * G_stride0 + k - G_lo1] : 0.0F
                for k in k_blocks_end_2 .. w:  # distinct, vector
                    E[(i - E_lo0) * E_stride0 + k - E_lo1] = E_block[k - k_blocks_end_2]
    release FETCH_G
    release FETCH_F
    reduce REDUCE_E

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
        for i in 0 .. n:  # distinct, threads, uneven, work 16 * n
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

# REDUCE_W: reduce W[:, :]
# FETCH_T: fetch T[:, :, :]
# FETCH_U: fetch U[:, :]
# FETCH_V: fetch V[:, :]
for each processor (), active:
    W = open REDUCE_W with W_lo0 = lo[0], W_stride0 = stride[0], W_lo1 = lo[1]
    start FETCH_T
    start FETCH_U
    start FETCH_V
    T = wait FETCH_T with T_count1 = levels[0].position_count, T_count2 = levels[1].position_count, T_count3 = levels[2].position_count, T_pos1 = levels[0].arrays[0], T_crd1 = levels[0].arrays[1], T_pos2 = levels[1].arrays[0], T_crd2 = levels[1].arrays[1], T_pos3 = levels[2].arrays[0], T_crd3 = levels[2].arrays[1]
    U = wait FETCH_U with U_lo0 = lo[0], U_stride0 = stride[0], U_lo1 = lo[1]
    V = wait FETCH_V with V_lo0 = lo[0], V_stride0 = stride[0], V_lo1 = lo[1]
    leaf where active && W:  # loops: 'T' is sparse
        let T_crd3_prefetch_end = distal_prefetch_end_i32(&T_crd3[0], T_count3, W_stride0 * 8, 32)
        let T_crd2_prefetch_end = distal_prefetch_end_i32(&T_crd2[0], T_count2, V_stride0 * 8, 32)
        let T_crd1_prefetch_end = distal_prefetch_end_i32(&T_crd1[0], T_count1, U_stride0 * 8, 32)
        let T_begin1 = T_pos1[0]
        let T_end1 = T_pos1[1]
        team, each thread with W_own for W:
            for T_p1 in T_begin1 .. T_end1:  # threads, uneven
                let i = T_crd1[T_p1]
                let T_begin2 = T_pos2[T_p1]
                let T_end2 = T_pos2[T_p1 + 1]
                if T_begin2 < T_end2:
                    let l_blocks_end = max(0, q) / 32 * 32
                    for l_block in 0 .. l_blocks_end by 32:
                        if T_p1 < T_crd1_prefetch_end:
                            let i_prefetched = T_crd1[T_p1 + 16]
                            distal_prefetch(&U[(i_prefetched - U_lo0) * U_stride0 + l_block - U_lo1], 256)
                        for T_p2 in T_begin2 .. T_end2:
                            let j = T_crd2[T_p2]
                            let T_begin3 = T_pos3[T_p2]
                            let T_end3 = T_pos3[T_p2 + 1]
                            if T_p2 < T_crd2_prefetch_end:
                                let j_prefetched = T_crd2[T_p2 + 16]
                                distal_prefetch(&V[(j_prefetched - V_lo0) * V_stride0 + l_block - V_lo1], 256)
                            for T_p3 in T_begin3 .. T_end3:  # distinct
                                let k = T_crd3[T_p3]
                                let T_value: f64 = T[T_p3]
                                if T_p3 < T_crd3_prefetch_end:
                                    let k_prefetched = T_crd3[T_p3 + 16]
                                    distal_prefetch(&W_own[(k_prefetched - W_lo0) * W_stride0 + l_block - W_lo1], 256)
                                for l_in in 0 .. 32:  # distinct, vector
                                    let l = l_block + l_in
                                    W_own[(k - W_lo0) * W_stride0 + l - W_lo1] += T_value * U[(i - U_lo0) * U_stride0 + l - U_lo1] * V[(j - V_lo0) * V_stride0 + l - V_lo1]
                    let l_blocks_end_2 = max(0, q) / 8 * 8
                    for l_block in l_blocks_end .. l_blocks_end_2 by 8:
                        if T_p1 < T_crd1_prefetch_end:
                            let i_prefetched = T_crd1[T_p1 + 32]
                            distal_prefetch(&U[(i_prefetched - U_lo0) * U_stride0 + l_block - U_lo1], 64)
                        for T_p2 in T_begin2 .. T_end2:
                            let j = T_crd2[T_p2]
                            let T_begin3 = T_pos3[T_p2]
                            let T_end3 = T_pos3[T_p2 + 1]
                            if T_p2 < T_crd2_prefetch_end:
                                let j_prefetched = T_crd2[T_p2 + 32]
                                distal_prefetch(&V[(j_prefetched - V_lo0) * V_stride0 + l_block - V_lo1], 64)
                            for T_p3 in T_begin3 .. T_end3:  # distinct
                                let k = T_crd3[T_p3]
                                let T_value: f64 = T[T_p3]
                                if T_p3 < T_crd3_prefetch_end:
                                    let k_prefetched = T_crd3[T_p3 + 32]
                                    distal_prefetch(&W_own[(k_prefetched - W_lo0) * W_stride0 + l_block - W_lo1], 64)
                                for l_in in 0 .. 8:  # distinct, vector
                                    let l = l_block + l_in
                                    W_own[(k - W_lo0) * W_stride0 + l - W_lo1] += T_value * U[(i - U_lo0) * U_stride0 + l - U_lo1] * V[(j - V_lo0) * V_stride0 + l - V_lo1]
                    if l_blocks_end_2 < q:
                        for T_p2 in T_begin2 .. T_end2:
                            let j = T_crd2[T_p2]
                            let T_begin3 = T_pos3[T_p2]
                            let T_end3 = T_pos3[T_p2 + 1]
                            for T_p3 in T_begin3 .. T_end3:  # distinct
                                let k = T_crd3[T_p3]
                                let T_value: f64 = T[T_p3]
                                for l in l_blocks_end_2 .. q:  # distinct, vector
                                    W_own[(k - W_lo0) * W_stride0 + l - W_lo1] += T_value * U[(i - U_lo0) * U_stride0 + l - U_lo1] * V[(j - V_lo0) * V_stride0 + l - V_lo1]
    release FETCH_V
    release FETCH_U
    release FETCH_T
    reduce REDUCE_W
