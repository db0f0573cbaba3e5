# Rows that need nothing of other ranks are computed while elements of x, and then of C, arrive.
# run: explain --stop-after loops:overlap {file}
--- program
param n = 100, r = 8, g = 4
machine M = grid(g)
tensor A(n, r): f64
tensor B(n, n): f64, csr
tensor C(n, r): f64
tensor x(n): f64
place A(i, k) -> M(i)
place B(i, j) -> M(i)
place C(j, k) -> M(j)
place x(j) -> M(j)
A(i, k) = B(i, j) * x(j) * C(j, k)
--- stdout
# REDUCE_W: reduce W[io * ceil_div(n, g) : (io + 1) * ceil_div(n, g), :]
# FETCH_B: fetch B[io * ceil_div(n, g) : (io + 1) * ceil_div(n, g), :]
# FETCH_x: fetch x[:]
# REDUCE_A: reduce A[io * ceil_div(n, g) : (io + 1) * ceil_div(n, g), :]
# FETCH_W: fetch W[io * ceil_div(n, g) : (io + 1) * ceil_div(n, g), :]
# FETCH_C: fetch C[:, :]
for each processor (io in stage 0), active:
    W = open REDUCE_W with W_lo0 = lo[0], W_extent0 = extent[0], W_pos2 = levels[1].arrays[0], W_crd2 = levels[1].arrays[1]
    start FETCH_B
    start FETCH_x
    B = wait FETCH_B with B_lo0 = lo[0], B_extent0 = extent[0], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1]
    x = view FETCH_x with x_lo0 = lo[0], x_crd1 = levels[0].arrays[0]
    for rows as FETCH_x arrives with begin = rows[0], end = rows[1]:
        leaf where active && B:  # loops: 'W' is sparse
            let ii_end = min(ceil_div(n, g), n - io * ceil_div(n, g))
            let ii_from = max(0, begin - io * ceil_div(n, g))
            let ii_to = max(ii_from, min(ii_end, end - io * ceil_div(n, g)))
            for ii in ii_from .. ii_to:  # distinct
                let i = io * ceil_div(n, g) + ii
                let B_p1 = i - B_lo0
                let W_p1 = i - W_lo0
                let B_begin2 = B_pos2[B_p1]
                let B_end2 = B_pos2[B_p1 + 1]
                let W_begin2 = W_pos2[W_p1]
                let W_end2 = W_pos2[W_p1 + 1]
                workspace W_at2
                W_at2 = W_begin2
                for B_p2 in B_begin2 .. B_end2:
                    let j = B_crd2[B_p2]
                    let x_at1 = x_crd1[B_p2]
                    let W_p2 = W_at2
                    W_at2 = W_p2 + 1
                    W[W_p2] = B[B_p2] * x[x_at1 - x_lo0]
    release FETCH_x
    release FETCH_B
    reduce REDUCE_W
for each processor (io in stage 1), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    start FETCH_W
    start FETCH_C
    W = wait FETCH_W with W_lo0 = lo[0], W_extent0 = extent[0], W_pos2 = levels[1].arrays[0], W_crd2 = levels[1].arrays[1]
    C = view FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1], C_crd1 = levels[0].arrays[0]
    for rows as FETCH_C arrives with begin = rows[0], end = rows[1]:
        leaf where active && W:  # loops: 'W' is sparse
            let ii_end = min(ceil_div(n, g), n - io * ceil_div(n, g))
            let ii_from = max(0, begin - io * ceil_div(n, g))
            let ii_to = max(ii_from, min(ii_end, end - io * ceil_div(n, g)))
            for ii in ii_from .. ii_to:  # distinct
                let i = io * ceil_div(n, g) + ii
                let W_p1 = i - W_lo0
                let W_begin2 = W_pos2[W_p1]
                let W_end2 = W_pos2[W_p1 + 1]
                for W_p2 in W_begin2 .. W_end2:
                    let j = W_crd2[W_p2]
                    let C_at1 = C_crd1[W_p2]
                    for k in 0 .. r:  # distinct
                        A[(i - A_lo0) * A_stride0 + k - A_lo1] += W[W_p2] * C[(C_at1 - C_lo0) * C_stride0 + k - C_lo1]
    release FETCH_C
    release FETCH_W
    reduce REDUCE_A

# The entries of the result.
# REDUCE_W: reduce W[io * ceil_div(n, g) : (io + 1) * ceil_div(n, g), :]
# FETCH_B: fetch B[io * ceil_div(n, g) : (io + 1) * ceil_div(n, g), :]
# FETCH_x: fetch x[:]
# REDUCE_A: reduce A[io * ceil_div(n, g) : (io + 1) * ceil_div(n, g), :]
# FETCH_W: fetch W[io * ceil_div(n, g) : (io + 1) * ceil_div(n, g), :]
# FETCH_C: fetch C[:, :]
for each processor (io in stage 0), active:
    B = fetch FETCH_B with B_lo0 = lo[0], B_extent0 = extent[0], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1]
    leaf where active && B:  # loops: 'W' is sparse
        let ii_end = min(ceil_div(n, g), n - io * ceil_div(n, g))
        let W_size = max(1, ceil_div(ii_end, 512))
        for portion in 0 .. ceil_div(ii_end, W_size):  # distinct, threads, portions, work 16 * ii_end
            let W_from = portion * W_size
            let W_to = min(portion * W_size + W_size, ii_end)
            portion portion of REDUCE_W, W_parents2, W_begins2, W_crd2:
                workspace W_parent2
                W_parent2 = -1
                for ii in W_from .. W_to:
                    let i = io * ceil_div(n, g) + ii
                    let B_p1 = i - B_lo0
                    let B_begin2 = B_pos2[B_p1]
                    let B_end2 = B_pos2[B_p1 + 1]
                    for B_p2 in B_begin2 .. B_end2:
                        let j = B_crd2[B_p2]
                        if W_parent2 < i:
                            W_parent2 = i
                            push (int64_t)i to W_parents2
                            push (int64_t)distal_count_i32(W_crd2) to W_begins2
                        push (int32_t)j to W_crd2
    release FETCH_B
