# Leaves on a GPU: a thread for each element; a block for each element, and all blocks for one, where operands are
# contiguous along a sum; loops as commands say; and matrices by the library.
# run: explain --stop-after loops:launches {file}
--- program
param n = 300, p = 2
machine M = grid(p)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
tensor y(n): f64
tensor x(n): f64
tensor s: f64
place A(i, j) -> M(i) in gpu
place B(i, j) -> M(i) in gpu
A(i, j) = B(i, j) + C(i, j)
y(i) = B(i, k) * x(k)
s = max({i, j}, A(i, j))
A(i, j) = exp(B(i, j))
schedule A {
  split(j, jo, ji, 64)
  reorder({i, jo, ji})
  parallelize(i, gpu_block)
  parallelize(jo, gpu_warp)
  parallelize(ji, gpu_thread)
}
x(k) = B(i, k) * y(i)
schedule x {
  parallelize(i, gpu_block, atomic)
}
C(i, k) = A(i, j) * B(j, k) * B(i, k)
schedule C {
  reorder({i, j, k})
  parallelize(i, gpu_block)
  parallelize(k, gpu_thread)
}
A(i, j) = B(i, k) * C(k, j)
--- stdout
# REDUCE_A: reduce A[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :]
# FETCH_B: fetch B[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :]
# FETCH_C: fetch C[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :]
let n_per_p = ceil_div(n, p)
for each processor (io), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    start FETCH_B
    start FETCH_C
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
    C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    leaf where active:  # loops: nothing is summed
        let ii_end = min(n_per_p, n - io * n_per_p)
        let width = min(max(0, n), ceil_div(max(0, n), 256) * 32)
        let height = max(0, ii_end)
        let threads_x = max(1, min(width, 256))
        let threads_y = max(1, min(height, min(256 / threads_x, 256)))
        launch on ceil_div(width, threads_x) x ceil_div(height, threads_y) blocks of threads_x x threads_y threads:
            for ii in 0 .. ii_end:  # distinct, permutable, threads of all blocks
                let i = io * n_per_p + ii
                for thread in 0 .. width:  # distinct, threads of all blocks
                    for each in 0 .. 8:  # unroll 8
                        let j = thread / 32 * 256 + thread % 32 + each * 32
                        if j < n:
                            A[(i - A_lo0) * A_stride0 + j - A_lo1] = B[(i - B_lo0) * B_stride0 + j - B_lo1] + C[(i - C_lo0) * C_stride0 + j - C_lo1]
    release FETCH_C
    release FETCH_B
    reduce REDUCE_A

# REDUCE_y: reduce y[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p)]
# FETCH_B: fetch B[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :]
# FETCH_x: fetch x[:]
let n_per_p = ceil_div(n, p)
for each processor (io), active:
    y = open REDUCE_y with y_lo0 = lo[0]
    start FETCH_B
    start FETCH_x
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
    x = wait FETCH_x with x_lo0 = lo[0]
    leaf where active && y:  # loops: too few loops
        let ii_end = min(n_per_p, n - io * n_per_p)
        let elements = max(0, ii_end)
        let places = max(1, min(8, elements / 1024))
        let threads_x = max(1, min(max(0, n), max(1, min(256 / places, max(0, n) / 16) / 32) * 32))
        launch on ceil_div(elements, places) blocks of threads_x x 1 x places threads:
            workspace parts[256]
            for block in 0 .. ceil_div(elements, places):  # distinct, blocks
                let begin = block * places
                let end = min(elements, begin + places)
                for element in begin .. end:  # distinct, threads of a block, barrier
                    let ii = element
                    let i = io * n_per_p + ii
                    for thread_y in 0 .. 1:  # distinct, threads of a block
                        for thread_x in 0 .. threads_x:  # distinct, threads of a block
                            workspace sum
                            for first in thread_x / 32 * 256 + thread_x % 32 .. n by threads_x * 8:
                                for each in 0 .. 8:  # unroll 8
                                    let k = first + each * 32
                                    if k < n:
                                        sum += B[(i - B_lo0) * B_stride0 + k - B_lo1] * x[k - x_lo0]
                            parts[(element - begin) * threads_x + (thread_y * threads_x + thread_x)] = sum
                for element in begin .. end:  # distinct, threads of a block, barrier
                    let ii = element
                    let i = io * n_per_p + ii
                    for row in 0 .. 1:  # distinct, threads of a block
                        for thread in 0 .. ceil_div(threads_x, 16):  # distinct, threads of a block
                            workspace sum
                            for part in (element - begin) * threads_x + thread * 16 .. (element - begin) * threads_x + min(threads_x, thread * 16 + 16):
                                sum += parts[part]
                            parts[(element - begin) * threads_x + thread * 16] = sum
                for element in begin .. end:  # distinct, threads of a block, barrier
                    let ii = element
                    let i = io * n_per_p + ii
                    for row in 0 .. 1:  # distinct, threads of a block
                        for thread in 0 .. 1:  # distinct, threads of a block
                            workspace sum
                            for part in (element - begin) * threads_x .. (element - begin) * threads_x + threads_x by 16:
                                sum += parts[part]
                            y[i - y_lo0] += sum
    release FETCH_x
    release FETCH_B
    reduce REDUCE_y

# REDUCE_s: reduce s
# FETCH_A: fetch A[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :]
let n_per_p = ceil_div(n, p)
for each processor (io), active:
    s = open REDUCE_s
    A = fetch FETCH_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    leaf where active && s:  # loops: a reduction that is not a sum
        let ii_end = min(n_per_p, n - io * n_per_p)
        workspace partial[1024]
        let threads_x = max(1, min(max(0, n), max(1, min(256, max(0, n) / 16) / 32) * 32))
        let threads_y = max(1, min(max(0, ii_end), 256 / threads_x))
        let pieces = ceil_div(max(0, n), 4096)
        launch on 1024 blocks of threads_x x threads_y threads:
            workspace parts[256]
            for block in 0 .. 1024:  # distinct, blocks
                for thread_y in 0 .. threads_y:  # distinct, threads of a block, barrier
                    for thread_x in 0 .. threads_x:  # distinct, threads of a block
                        workspace max_2
                        for row in block * threads_y + thread_y .. max(0, ii_end) * pieces by 1024 * threads_y:
                            let begin = row % pieces * 4096
                            let outer = row / pieces
                            let ii = outer
                            let i = io * n_per_p + ii
                            for first in begin + (thread_x / 32 * 256 + thread_x % 32) .. min(n, begin + 4096) by threads_x * 8:
                                for each in 0 .. 8:  # unroll 8
                                    let j = first + each * 32
                                    if j < min(n, begin + 4096):
                                        max_2 max= A[(i - A_lo0) * A_stride0 + j - A_lo1]
                        parts[thread_y * threads_x + thread_x] = max_2
                for row in 0 .. 1:  # distinct, threads of a block, barrier
                    for thread in 0 .. ceil_div(threads_x * threads_y, 16):  # distinct, threads of a block
                        workspace max_2
                        for part in thread * 16 .. min(threads_x * threads_y, thread * 16 + 16):
                            max_2 max= parts[part]
                        parts[thread * 16] = max_2
                for row in 0 .. 1:  # distinct, threads of a block, barrier
                    for thread in 0 .. 1:  # distinct, threads of a block
                        workspace max_2
                        for part in 0 .. threads_x * threads_y by 16:
                            max_2 max= parts[part]
                        partial[block] = max_2
        launch on 1 blocks of 256 threads:
            workspace parts[256]
            for thread in 0 .. 256:  # distinct, threads of a block, barrier
                workspace max_2
                for part in thread .. 1024 by 256:
                    max_2 max= partial[part]
                parts[thread] = max_2
            for row in 0 .. 1:  # distinct, threads of a block, barrier
                for thread in 0 .. 16:  # distinct, threads of a block
                    workspace max_2
                    for part in thread * 16 .. min(256, thread * 16 + 16):
                        max_2 max= parts[part]
                    parts[thread * 16] = max_2
            for row in 0 .. 1:  # distinct, threads of a block, barrier
                for thread in 0 .. 1:  # distinct, threads of a block
                    workspace max_2
                    for part in 0 .. 256 by 16:
                        max_2 max= parts[part]
                    s[0] max= max_2
    release FETCH_A
    reduce REDUCE_s

# REDUCE_A: reduce A[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :]
# FETCH_B: fetch B[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :]
let n_per_p = ceil_div(n, p)
let n_per_64 = ceil_div(n, 64)
for each processor (io), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    B = fetch FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
    leaf where active:  # loops: the schedule says how 'jo' is executed
        let ii_end = min(n_per_p, n - io * n_per_p)
        launch on ii_end blocks of 32 x 8 threads:
            for ii in 0 .. ii_end:  # distinct, blocks
                for jo in 0 .. n_per_64:  # distinct, warps
                    let i = io * n_per_p + ii
                    let ji_end = min(64, n - jo * 64)
                    for ji in 0 .. ji_end:  # distinct, threads of a block
                        let j = jo * 64 + ji
                        A[(i - A_lo0) * A_stride0 + j - A_lo1] = exp(B[(i - B_lo0) * B_stride0 + j - B_lo1])
    release FETCH_B
    reduce REDUCE_A

# REDUCE_x: reduce x[:]
# FETCH_B: fetch B[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :]
# FETCH_y: fetch y[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p)]
let n_per_p = ceil_div(n, p)
for each processor (io), active:
    x = open REDUCE_x with x_lo0 = lo[0]
    start FETCH_B
    start FETCH_y
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
    y = wait FETCH_y with y_lo0 = lo[0]
    leaf where active:  # loops: the schedule says how 'ii' is executed
        let ii_end = min(n_per_p, n - io * n_per_p)
        for k in 0 .. n:  # distinct
            launch on ii_end blocks of 256 threads:
                for ii in 0 .. ii_end:  # blocks
                    let i = io * n_per_p + ii
                    for thread in 0 .. 1:  # distinct, threads of a block
                        x[k - x_lo0] += B[(i - B_lo0) * B_stride0 + k - B_lo1] * y[i - y_lo0]  # atomic
    release FETCH_y
    release FETCH_B
    reduce REDUCE_x

# REDUCE_C: reduce C[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :]
# FETCH_A: fetch A[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :]
# FETCH_B: fetch B[:, :]
# FETCH_B_2: fetch B[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :]
let n_per_p = ceil_div(n, p)
for each processor (io), active:
    C = open REDUCE_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    start FETCH_A
    start FETCH_B
    start FETCH_B_2
    A = wait FETCH_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
    B_2 = wait FETCH_B_2 with B_2_lo0 = lo[0], B_2_stride0 = stride[0], B_2_lo1 = lo[1]
    leaf where active:  # loops: the schedule says how 'k' is executed
        let ii_end = min(n_per_p, n - io * n_per_p)
        launch on ii_end blocks of 256 threads:
            for ii in 0 .. ii_end:  # distinct, blocks
                for k in 0 .. n:  # distinct, threads of a block
                    let i = io * n_per_p + ii
                    for j in 0 .. n:
                        C[(i - C_lo0) * C_stride0 + k - C_lo1] += A[(i - A_lo0) * A_stride0 + j - A_lo1] * B[(j - B_lo0) * B_stride0 + k - B_lo1] * B_2[(i - B_2_lo0) * B_2_stride0 + k - B_2_lo1]
    release FETCH_B_2
    release FETCH_B
    release FETCH_A
    reduce REDUCE_C

# REDUCE_A: reduce A[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :]
# FETCH_B: fetch B[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :]
# FETCH_C: fetch C[:, :]
let n_per_p = ceil_div(n, p)
for each processor (io), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    start FETCH_B
    start FETCH_C
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
    C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
    leaf where active:  # gemm over ii, j, k
        let i = io * n_per_p
        let ii_end = min(n_per_p, n - io * n_per_p)
        if ii_end > 0 && n > 0 && n > 0:
            distal_gpu_contract_f64(1, 1, 1, 0, loops, distal_gpu_space(execution), 1, 1, &B[(i - B_lo0) * B_stride0 - B_lo1], &C[-C_lo0 * C_stride0 - C_lo1], &A[(i - A_lo0) * A_stride0 - A_lo1])
                loops[0] = ii_end, B_stride0, 0, A_stride0
                loops[1] = n, 0, 1, 1
                loops[2] = n, 1, C_stride0, 0
    release FETCH_C
    release FETCH_B
    reduce REDUCE_A
