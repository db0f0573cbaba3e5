# Four rows at a time have x in common; what is left over is computed row by row.
# run: explain --stop-after loops:blocks {file}
--- program
param n = 300, m = 200
tensor y(n): f64
tensor B(n, m): f64
tensor x(m): f64
tensor z(m): f64
y(i) = B(i, j) * max(x(j), z(j))
--- stdout
# REDUCE_y: reduce y[:]
# FETCH_B: fetch B[:, :]
# FETCH_x: fetch x[:]
# FETCH_z: fetch z[:]
for each processor (), active:
    y = open REDUCE_y with y_lo0 = lo[0]
    start FETCH_B
    start FETCH_x
    start FETCH_z
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
    x = wait FETCH_x with x_lo0 = lo[0]
    z = wait FETCH_z with z_lo0 = lo[0]
    leaf where active && y:  # loops: too few loops
        let i_blocks_end = max(0, n) / 4 * 4
        for i in 0 .. i_blocks_end by 4:  # distinct, permutable, threads, work n * m
            workspace sum
            workspace sum_2
            workspace sum_3
            workspace sum_4
            for j in 0 .. m:  # permutable, vector, sum sum, sum sum_2, sum sum_3, sum sum_4
                sum += B[(i - B_lo0) * B_stride0 + j - B_lo1] * distal_max_f64(x[j - x_lo0], z[j - z_lo0])
                sum_2 += B[(i + 1 - B_lo0) * B_stride0 + j - B_lo1] * distal_max_f64(x[j - x_lo0], z[j - z_lo0])
                sum_3 += B[(i + 2 - B_lo0) * B_stride0 + j - B_lo1] * distal_max_f64(x[j - x_lo0], z[j - z_lo0])
                sum_4 += B[(i + 3 - B_lo0) * B_stride0 + j - B_lo1] * distal_max_f64(x[j - x_lo0], z[j - z_lo0])
            y[i - y_lo0] += sum
            y[i + 1 - y_lo0] += sum_2
            y[i + 2 - y_lo0] += sum_3
            y[i + 3 - y_lo0] += sum_4
        for i in i_blocks_end .. n:  # distinct, permutable
            workspace sum
            for j in 0 .. m:  # permutable, vector, sum sum
                sum += B[(i - B_lo0) * B_stride0 + j - B_lo1] * distal_max_f64(x[j - x_lo0], z[j - z_lo0])
            y[i - y_lo0] += sum
    release FETCH_z
    release FETCH_x
    release FETCH_B
    reduce REDUCE_y
