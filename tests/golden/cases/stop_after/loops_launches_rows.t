# Rows on a GPU: a block for each, in memory of the GPU or of the block; rows that all blocks fill together, in loops
# that follow one another on the host; a scalar of a thread; and loops around and inside as commands say.
# run: explain --stop-after loops:launches {file}
--- program
param n = 300
machine M = gpu grid(1)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
tensor D(n, n): f64
tensor y(n): f64
place A(i, j) -> M.gpu(i) in gpu
place y(i) -> M.gpu(i) in gpu
A(i, l) = B(i, j) * C(j, k) * D(k, l)
schedule A {
  precompute(B(i, j) * C(j, k), {k}, {k}, w)
}
y(i) = sqrt(B(i, j) * C(i, j)) * D(i, k)
schedule y {
  precompute(B(i, j) * C(i, j), {}, {}, s)
}
y(l) = exp(B(i, j) * C(j, l)) * D(i, l)
schedule y {
  precompute(B(i, j) * C(j, l), {l}, {l}, v)
}
A(i, l) = exp(B(i, j) * C(j, l)) * D(i, l)
schedule A {
  precompute(B(i, j) * C(j, l), {}, {}, t)
}
A(i, l) = B(i, j) * C(j, k) * D(k, l)
schedule A {
  precompute(B(i, j) * C(j, k), {k}, {kw}, u)
  split(kw, ko, ki, 32)
  parallelize(i, gpu_block)
  parallelize(ko, gpu_warp)
  parallelize(ki, gpu_thread)
}
--- stdout
# REDUCE_A: reduce A[io * n : (io + 1) * n, :]
# FETCH_D: fetch D[:, :]
# FETCH_B: fetch B[io * n : (io + 1) * n, :]
# FETCH_C: fetch C[:, :]
for each processor (io), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    start FETCH_D
    start FETCH_B
    start FETCH_C
    D = wait FETCH_D with D_lo0 = lo[0], D_stride0 = stride[0], D_lo1 = lo[1]
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
    C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    leaf where active && A:  # loops: 'w' is filled and read in each iteration
        let ii_end = min(n, n - io * n)
        let iterations = max(0, ii_end)
        workspace w[n]
        let row = n
        let row_count = distal_gpu_row_count(execution, 0)
        let blocks = min(iterations, row_count)
        launch on blocks blocks of 256 threads:
            for block in 0 .. blocks:  # distinct, blocks
                for iteration in block .. iterations by blocks:  # distinct
                    let ii = iteration
                    let i = io * n + ii
                    for element in 0 .. max(0, n):  # distinct, threads of a block, barrier
                        let at = element
                        w[block * row + at] = 0.0
                    for element in 0 .. max(0, n):  # distinct, threads of a block, barrier
                        let k = element
                        workspace sum
                        for j in 0 .. n:  # permutable
                            sum += B[(i - B_lo0) * B_stride0 + j - B_lo1] * C[(j - C_lo0) * C_stride0 + k - C_lo1]
                        w[block * row + k] += sum
                    for element in 0 .. max(0, n):  # distinct, threads of a block, barrier
                        let l = element
                        workspace sum
                        for k in 0 .. n:  # permutable
                            sum += w[block * row + k] * D[(k - D_lo0) * D_stride0 + l - D_lo1]
                        A[(i - A_lo0) * A_stride0 + l - A_lo1] += sum
    release FETCH_C
    release FETCH_B
    release FETCH_D
    reduce REDUCE_A

# REDUCE_y: reduce y[io * n : (io + 1) * n]
# FETCH_D: fetch D[io * n : (io + 1) * n, :]
# FETCH_B: fetch B[io * n : (io + 1) * n, :]
# FETCH_C: fetch C[io * n : (io + 1) * n, :]
for each processor (io), active:
    y = open REDUCE_y with y_lo0 = lo[0]
    start FETCH_D
    start FETCH_B
    start FETCH_C
    D = wait FETCH_D with D_lo0 = lo[0], D_stride0 = stride[0], D_lo1 = lo[1]
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
    C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    leaf where active && y:  # loops: 's' is filled and read in each iteration
        let ii_end = min(n, n - io * n)
        let iterations = max(0, ii_end)
        let blocks = min(iterations, 1024)
        launch on blocks blocks of 256 threads:
            workspace parts[256]
            for block in 0 .. blocks:  # distinct, blocks
                for iteration in block .. iterations by blocks:  # distinct
                    let ii = iteration
                    let i = io * n + ii
                    for thread_y in 0 .. 1:  # distinct, threads of a block, barrier
                        for thread_x in 0 .. 256:  # distinct, threads of a block
                            workspace sum
                            for first in thread_x / 32 * 256 + thread_x % 32 .. n by 2048:
                                for each in 0 .. 8:  # unroll 8
                                    let j = first + each * 32
                                    if j < n:
                                        workspace s
                                        s = B[(i - B_lo0) * B_stride0 + j - B_lo1] * C[(i - C_lo0) * C_stride0 + j - C_lo1]
                                        for k in 0 .. n:  # permutable
                                            sum += sqrt(s) * D[(i - D_lo0) * D_stride0 + k - D_lo1]
                            parts[thread_y * 256 + thread_x] = sum
                    for row in 0 .. 1:  # distinct, threads of a block, barrier
                        for thread in 0 .. 16:  # distinct, threads of a block
                            workspace sum
                            for part in thread * 16 .. min(256, thread * 16 + 16):
                                sum += parts[part]
                            parts[thread * 16] = sum
                    for row in 0 .. 1:  # distinct, threads of a block, barrier
                        for thread in 0 .. 1:  # distinct, threads of a block
                            workspace sum
                            for part in 0 .. 256 by 16:
                                sum += parts[part]
                            y[i - y_lo0] += sum
    release FETCH_C
    release FETCH_B
    release FETCH_D
    reduce REDUCE_y

# REDUCE_y: reduce y[lo * n : (lo + 1) * n]
# FETCH_D: fetch D[:, lo * n : (lo + 1) * n]
# FETCH_B: fetch B[:, :]
# FETCH_C: fetch C[:, lo * n : (lo + 1) * n]
for each processor (lo), active:
    y = open REDUCE_y with y_lo0 = lo[0]
    start FETCH_D
    start FETCH_B
    start FETCH_C
    D = wait FETCH_D with D_lo0 = lo[0], D_stride0 = stride[0], D_lo1 = lo[1]
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
    C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    leaf where active:  # loops: 'v' is filled and read in each iteration
        let li_end = min(n, n - lo * n)
        let li_end_2 = min(n, n - lo * n)
        for i in 0 .. n:
            for j in 0 .. n:
                workspace v[n]
                let width = min(max(0, li_end), ceil_div(max(0, li_end), 256) * 32)
                let threads_x = max(1, min(width, 256))
                launch on ceil_div(width, threads_x) blocks of threads_x threads:
                    for thread in 0 .. width:  # distinct, threads of all blocks
                        for each in 0 .. 8:  # unroll 8
                            let li = thread / 32 * 256 + thread % 32 + each * 32
                            if li < li_end:
                                let l = lo * n + li
                                v[l - lo * n] = B[(i - B_lo0) * B_stride0 + j - B_lo1] * C[(j - C_lo0) * C_stride0 + l - C_lo1]
                let width_2 = min(max(0, li_end_2), ceil_div(max(0, li_end_2), 256) * 32)
                let threads_x_2 = max(1, min(width_2, 256))
                launch on ceil_div(width_2, threads_x_2) blocks of threads_x_2 threads:
                    for thread in 0 .. width_2:  # distinct, threads of all blocks
                        for each in 0 .. 8:  # unroll 8
                            let li = thread / 32 * 256 + thread % 32 + each * 32
                            if li < li_end_2:
                                let l = lo * n + li
                                y[l - y_lo0] += exp(v[l - lo * n]) * D[(i - D_lo0) * D_stride0 + l - D_lo1]
    release FETCH_C
    release FETCH_B
    release FETCH_D
    reduce REDUCE_y

# REDUCE_A: reduce A[io * n : (io + 1) * n, :]
# FETCH_D: fetch D[io * n : (io + 1) * n, :]
# FETCH_B: fetch B[io * n : (io + 1) * n, :]
# FETCH_C: fetch C[:, :]
for each processor (io), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    start FETCH_D
    start FETCH_B
    start FETCH_C
    D = wait FETCH_D with D_lo0 = lo[0], D_stride0 = stride[0], D_lo1 = lo[1]
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
    C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    leaf where active && A:  # loops: 't' is filled and read in each iteration
        let ii_end = min(n, n - io * n)
        let width = max(0, n)
        let height = max(0, ii_end)
        let threads_x = max(1, min(width, 256))
        let threads_y = max(1, min(height, min(256 / threads_x, 256)))
        launch on ceil_div(width, threads_x) x ceil_div(height, threads_y) blocks of threads_x x threads_y threads:
            for ii in 0 .. ii_end:  # distinct, threads of all blocks
                let i = io * n + ii
                for l in 0 .. n:  # distinct, threads of all blocks
                    workspace sum
                    for j in 0 .. n:
                        workspace t
                        t = B[(i - B_lo0) * B_stride0 + j - B_lo1] * C[(j - C_lo0) * C_stride0 + l - C_lo1]
                        sum += exp(t) * D[(i - D_lo0) * D_stride0 + l - D_lo1]
                    A[(i - A_lo0) * A_stride0 + l - A_lo1] += sum
    release FETCH_C
    release FETCH_B
    release FETCH_D
    reduce REDUCE_A

# REDUCE_A: reduce A[io * n : (io + 1) * n, :]
# FETCH_D: fetch D[:, :]
# FETCH_B: fetch B[io * n : (io + 1) * n, :]
# FETCH_C: fetch C[:, :]
let n_per_32 = ceil_div(n, 32)
for each processor (io), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    start FETCH_D
    start FETCH_B
    start FETCH_C
    D = wait FETCH_D with D_lo0 = lo[0], D_stride0 = stride[0], D_lo1 = lo[1]
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
    C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    leaf where active && A:  # loops: 'u' is filled and read in each iteration
        let ii_end = min(n, n - io * n)
        workspace u[n]
        let row = n
        let row_count = distal_gpu_row_count(execution, 0)
        let blocks = max(1, min(ii_end, row_count))
        launch on blocks blocks of 32 x 8 threads:
            for block in 0 .. blocks:  # distinct, blocks
                for ii in block .. ii_end by blocks:  # distinct
                    let i = io * n + ii
                    for thread_y in 0 .. 8:  # distinct, threads of a block, barrier
                        for thread_x in 0 .. 32:  # distinct, threads of a block
                            for element in thread_y * 32 + thread_x .. max(0, n) by 256:  # distinct
                                let at = element
                                u[block * row + at] = 0.0
                    for ko in 0 .. n_per_32:  # distinct, warps, barrier
                        let ki_end = min(32, n - ko * 32)
                        for ki in 0 .. ki_end:  # distinct, threads of a block
                            let kw = ko * 32 + ki
                            for j in 0 .. n:
                                u[block * row + kw] += B[(i - B_lo0) * B_stride0 + j - B_lo1] * C[(j - C_lo0) * C_stride0 + kw - C_lo1]
                    for thread_y in 0 .. 8:  # distinct, threads of a block, barrier
                        for thread_x in 0 .. 32:  # distinct, threads of a block
                            for element in thread_y * 32 + thread_x .. max(0, n) by 256:  # distinct
                                let l = element
                                workspace sum
                                for k in 0 .. n:  # permutable
                                    sum += u[block * row + k] * D[(k - D_lo0) * D_stride0 + l - D_lo1]
                                A[(i - A_lo0) * A_stride0 + l - A_lo1] += sum
    release FETCH_C
    release FETCH_B
    release FETCH_D
    reduce REDUCE_A
