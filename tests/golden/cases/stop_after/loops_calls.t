# Threads share the loop around a library call where the call is too short for threads of its own.
# run: explain --stop-after loops:threads {file}
--- program
param n = 300, m = 20, q = 30
tensor y(n, m): f64
tensor B(n, m, q): f64
tensor x(n, q): f64
y(i, j) = B(i, j, k) * x(i, k)
--- stdout
# REDUCE_y: reduce y[:, :]
# FETCH_B: fetch B[:, :, :]
# FETCH_x: fetch x[:, :]
for each processor (), active:
    y = open REDUCE_y with y_lo0 = lo[0], y_stride0 = stride[0], y_lo1 = lo[1]
    start FETCH_B
    start FETCH_x
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1], B_stride1 = stride[1], B_lo2 = lo[2]
    x = wait FETCH_x with x_lo0 = lo[0], x_stride0 = stride[0], x_lo1 = lo[1]
    leaf where active:  # gemv over j, k
        for i in 0 .. n:  # distinct, threads, work n * m * q, call m * q
            if m > 0 && q > 0:
                distal_gemv_f64(m, q, 1, &B[(i - B_lo0) * B_stride0 - B_lo1 * B_stride1 - B_lo2], B_stride1, 1, &x[(i - x_lo0) * x_stride0 - x_lo1], 1, &y[(i - y_lo0) * y_stride0 - y_lo1], 1)
    release FETCH_x
    release FETCH_B
    reduce REDUCE_y
