# Loops that cross, in blocks: what depends on the one that walks along B goes to where it is now.
# run: explain --stop-after loops:tiles {file}
--- program
param n = 300, p = 2
machine M = grid(p)
tensor A(n, n, n): f64
tensor B(n, n, n): f64
place A(x, y, z) -> M(x)
A(i, j, k) = B(k, l, i) * B(j, l, i) * B(k, j, l)
--- stdout
# REDUCE_A: reduce A[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :, :]
# FETCH_B: fetch B[:, :, io * ceil_div(n, p) : (io + 1) * ceil_div(n, p)]
# FETCH_B_2: fetch B[:, :, io * ceil_div(n, p) : (io + 1) * ceil_div(n, p)]
# FETCH_B_3: fetch B[:, :, :]
for each processor (io), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1], A_stride1 = stride[1], A_lo2 = lo[2]
    start FETCH_B
    start FETCH_B_2
    start FETCH_B_3
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1], B_stride1 = stride[1], B_lo2 = lo[2]
    B_2 = wait FETCH_B_2 with B_2_lo0 = lo[0], B_2_stride0 = stride[0], B_2_lo1 = lo[1], B_2_stride1 = stride[1], B_2_lo2 = lo[2]
    B_3 = wait FETCH_B_3 with B_3_lo0 = lo[0], B_3_stride0 = stride[0], B_3_lo1 = lo[1], B_3_stride1 = stride[1], B_3_lo2 = lo[2]
    leaf where active:  # loops: more than two operands
        for j in 0 .. n:  # distinct, permutable
            let ii_end = min(ceil_div(n, p), n - io * ceil_div(n, p))
            for ii_tile in 0 .. ii_end by 32:  # distinct
                for l_tile in 0 .. n by 256:
                    let ii_tile_end = min(ii_tile + 32, ii_end)
                    let l_tile_end = min(l_tile + 256, n)
                    for k in 0 .. n:  # distinct, permutable
                        for ii in ii_tile .. ii_tile_end:  # distinct
                            let i = io * ceil_div(n, p) + ii
                            for l in l_tile .. l_tile_end:
                                A[(i - A_lo0) * A_stride0 + (j - A_lo1) * A_stride1 + k - A_lo2] += B[(k - B_lo0) * B_stride0 + (l - B_lo1) * B_stride1 + i - B_lo2] * B_2[(j - B_2_lo0) * B_2_stride0 + (l - B_2_lo1) * B_2_stride1 + i - B_2_lo2] * B_3[(k - B_3_lo0) * B_3_stride0 + (j - B_3_lo1) * B_3_stride1 + l - B_3_lo2]
    release FETCH_B_3
    release FETCH_B_2
    release FETCH_B
    reduce REDUCE_A
