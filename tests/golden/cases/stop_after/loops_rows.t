# run: explain --stop-after loops {file}
--- program
# Rows inside of loops: a block of a row where its outer loop is outside, a scalar, a row that several nests fill, and
# threads that have rows of their own.
param n = 300, m = 200
tensor A(n, m): f64
tensor B(n, n, n): f64
tensor C(n, m): f64
tensor D(n, m): f64
tensor c(n): f64
tensor y(n): f64
tensor z(n, m): f64
A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
schedule A {
  precompute(B(i, j, k) * D(k, l), {l}, {l}, w)
  split(l, lo, li, 64)
  reorder({lo, i, j, li})
}
y(i) = sqrt(B(i, j, k) * c(k))
schedule y {
  precompute(B(i, j, k) * c(k), {}, {}, s)
}
z(i, l) = C(i, l) + B(i, i, k) * D(k, l)
schedule z {
  precompute(C(i, l) + B(i, i, k) * D(k, l), {l}, {lw}, v)
  parallelize(i, cpu_thread)
}
--- stdout
# REDUCE_A: reduce A[:, :]
# FETCH_C: fetch C[:, :]
# FETCH_B: fetch B[:, :, :]
# FETCH_D: fetch D[:, :]
let m_per_64 = ceil_div(m, 64)
for each processor (), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    start FETCH_C
    start FETCH_B
    start FETCH_D
    C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1], B_stride1 = stride[1], B_lo2 = lo[2]
    D = wait FETCH_D with D_lo0 = lo[0], D_stride0 = stride[0], D_lo1 = lo[1]
    leaf where active:  # loops: 'w' is filled and read in each iteration
        for lo in 0 .. m_per_64:  # distinct, threads, collapse 2, work m_per_64 * n * n * n + m_per_64 * n * n
            for i in 0 .. n:  # distinct
                let li_end = min(64, m - lo * 64)
                let li_end_2 = min(64, m - lo * 64)
                let li_blocks_end = max(0, li_end) / 4 * 4
                let at = -lo * 64
                let A_at = (i - A_lo0) * A_stride0 - A_lo1
                for j in 0 .. n:
                    workspace w[64] = 0
                    let B_at = (i - B_lo0) * B_stride0 + (j - B_lo1) * B_stride1 - B_lo2
                    for li in 0 .. li_blocks_end by 4:  # distinct
                        let l = lo * 64 + li
                        workspace sum
                        let l_2 = lo * 64 + (li + 1)
                        workspace sum_2
                        let l_3 = lo * 64 + (li + 2)
                        workspace sum_3
                        let l_4 = lo * 64 + (li + 3)
                        workspace sum_4
                        for k in 0 .. n:  # vector, sum sum, sum sum_2, sum sum_3, sum sum_4
                            sum += B[B_at + k] * D[(k - D_lo0) * D_stride0 + l - D_lo1]
                            sum_2 += B[B_at + k] * D[(k - D_lo0) * D_stride0 + l_2 - D_lo1]
                            sum_3 += B[B_at + k] * D[(k - D_lo0) * D_stride0 + l_3 - D_lo1]
                            sum_4 += B[B_at + k] * D[(k - D_lo0) * D_stride0 + l_4 - D_lo1]
                        w[at + l] += sum
                        w[at + l_2] += sum_2
                        w[at + l_3] += sum_3
                        w[at + l_4] += sum_4
                    for li in li_blocks_end .. li_end:  # distinct
                        let l = lo * 64 + li
                        workspace sum
                        for k in 0 .. n:  # vector, sum sum
                            sum += B[B_at + k] * D[(k - D_lo0) * D_stride0 + l - D_lo1]
                        w[at + l] += sum
                    let C_at = (j - C_lo0) * C_stride0 - C_lo1
                    for li in 0 .. li_end_2:  # distinct, vector
                        let l = lo * 64 + li
                        A[A_at + l] += w[at + l] * C[C_at + l]
    release FETCH_D
    release FETCH_B
    release FETCH_C
    reduce REDUCE_A

# REDUCE_y: reduce y[:]
# FETCH_B: fetch B[:, :, :]
# FETCH_c: fetch c[:]
for each processor (), active:
    y = open REDUCE_y with y_lo0 = lo[0]
    start FETCH_B
    start FETCH_c
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1], B_stride1 = stride[1], B_lo2 = lo[2]
    c = wait FETCH_c with c_lo0 = lo[0]
    leaf where active && y:  # loops: 's' is filled and read in each iteration
        for i in 0 .. n:  # distinct, threads, work n * n * n
            workspace sum
            for j in 0 .. n:  # sum sum
                let B_at = (i - B_lo0) * B_stride0 + (j - B_lo1) * B_stride1 - B_lo2
                for k in 0 .. n:  # vector, sum sum
                    workspace s
                    s = B[B_at + k] * c[k - c_lo0]
                    sum += sqrt(s)
            y[i - y_lo0] += sum
    release FETCH_c
    release FETCH_B
    reduce REDUCE_y

# REDUCE_z: reduce z[:, :]
# FETCH_B: fetch B[:, :, :]
# FETCH_D: fetch D[:, :]
# FETCH_C: fetch C[:, :]
for each processor (), active:
    z = open REDUCE_z with z_lo0 = lo[0], z_stride0 = stride[0], z_lo1 = lo[1]
    start FETCH_B
    start FETCH_D
    start FETCH_C
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1], B_stride1 = stride[1], B_lo2 = lo[2]
    D = wait FETCH_D with D_lo0 = lo[0], D_stride0 = stride[0], D_lo1 = lo[1]
    C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    leaf where active:  # loops: 'v' is filled and read in each iteration
        let k_blocks_end = max(0, n) / 4 * 4
        for i in 0 .. n:  # distinct, threads, work n * m + n * n * m + n * m
            workspace v[m]
            let C_at = (i - C_lo0) * C_stride0 - C_lo1
            for lw in 0 .. m:  # distinct, permutable, vector
                v[lw] = C[C_at + lw]
            let B_at = (i - B_lo0) * B_stride0 + (i - B_lo1) * B_stride1 - B_lo2
            for k in 0 .. k_blocks_end by 4:  # permutable
                let B_value: f64 = m > 0 ? B[B_at + k] : 0.0
                let B_value_2: f64 = m > 0 ? B[B_at + (k + 1)] : 0.0
                let B_value_3: f64 = m > 0 ? B[B_at + (k + 2)] : 0.0
                let B_value_4: f64 = m > 0 ? B[B_at + (k + 3)] : 0.0
                let D_at = (k - D_lo0) * D_stride0 - D_lo1
                let D_at_2 = (k + 1 - D_lo0) * D_stride0 - D_lo1
                let D_at_3 = (k + 2 - D_lo0) * D_stride0 - D_lo1
                let D_at_4 = (k + 3 - D_lo0) * D_stride0 - D_lo1
                for lw in 0 .. m:  # distinct, permutable, vector
                    v[lw] += B_value * D[D_at + lw] + B_value_2 * D[D_at_2 + lw] + B_value_3 * D[D_at_3 + lw] + B_value_4 * D[D_at_4 + lw]
            for k in k_blocks_end .. n:  # permutable
                let B_value: f64 = m > 0 ? B[B_at + k] : 0.0
                let D_at = (k - D_lo0) * D_stride0 - D_lo1
                for lw in 0 .. m:  # distinct, permutable, vector
                    v[lw] += B_value * D[D_at + lw]
            let z_at = (i - z_lo0) * z_stride0 - z_lo1
            for l in 0 .. m:  # distinct, permutable, vector
                z[z_at + l] = v[l]
    release FETCH_C
    release FETCH_D
    release FETCH_B
    reduce REDUCE_z
