# A row of C is read element by element; what it is multiplied by is read before it, where there is a row.
# run: explain --stop-after loops:loads {file}
--- program
param n = 300, m = 200, q = 100
tensor A(n, m): f64
tensor B(n, q): f64
tensor C(q, m): f64
tensor x(n): f64
A(i, j) = B(i, k) * C(k, j) * x(i)
schedule A { reorder({i, k, j}) }
--- stdout
# REDUCE_A: reduce A[:, :]
# FETCH_B: fetch B[:, :]
# FETCH_C: fetch C[:, :]
# FETCH_x: fetch x[:]
for each processor (), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    start FETCH_B
    start FETCH_C
    start FETCH_x
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
    C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    x = wait FETCH_x with x_lo0 = lo[0]
    leaf where active:  # loops: more than two operands
        let k_blocks_end = max(0, q) / 4 * 4
        for i in 0 .. n:  # distinct, threads, work n * q * m
            let x_value: f64 = m > 0 && k_blocks_end > 0 ? x[i - x_lo0] : 0.0
            for k in 0 .. k_blocks_end by 4:
                let B_value: f64 = m > 0 ? B[(i - B_lo0) * B_stride0 + k - B_lo1] : 0.0
                let B_value_2: f64 = m > 0 ? B[(i - B_lo0) * B_stride0 + (k + 1) - B_lo1] : 0.0
                let B_value_3: f64 = m > 0 ? B[(i - B_lo0) * B_stride0 + (k + 2) - B_lo1] : 0.0
                let B_value_4: f64 = m > 0 ? B[(i - B_lo0) * B_stride0 + (k + 3) - B_lo1] : 0.0
                for j in 0 .. m:  # distinct, vector
                    A[(i - A_lo0) * A_stride0 + j - A_lo1] += B_value * C[(k - C_lo0) * C_stride0 + j - C_lo1] * x_value + B_value_2 * C[(k + 1 - C_lo0) * C_stride0 + j - C_lo1] * x_value + B_value_3 * C[(k + 2 - C_lo0) * C_stride0 + j - C_lo1] * x_value + B_value_4 * C[(k + 3 - C_lo0) * C_stride0 + j - C_lo1] * x_value
            let x_value_2: f64 = m > 0 && k_blocks_end < q ? x[i - x_lo0] : 0.0
            for k in k_blocks_end .. q:
                let B_value: f64 = m > 0 ? B[(i - B_lo0) * B_stride0 + k - B_lo1] : 0.0
                for j in 0 .. m:  # distinct, vector
                    A[(i - A_lo0) * A_stride0 + j - A_lo1] += B_value * C[(k - C_lo0) * C_stride0 + j - C_lo1] * x_value_2
    release FETCH_x
    release FETCH_C
    release FETCH_B
    reduce REDUCE_A
