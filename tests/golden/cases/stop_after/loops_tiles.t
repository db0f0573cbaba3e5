# Loops that cross, in blocks: what depends on the one that walks along B goes to where it is now.
# run: explain --stop-after loops:tiles {file}
--- program
param n = 300, p = 2
machine M = grid(p)
tensor A(n, n, n): f64
tensor B(n, n, n): f64
place A(x, y, z) -> M(x)
A(i, j, k) = B(k, j, i) * B(k, j, i)
--- stdout
# REDUCE_A: reduce A[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :, :]
# FETCH_B: fetch B[:, :, io * ceil_div(n, p) : (io + 1) * ceil_div(n, p)]
for each processor (io), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1], A_stride1 = stride[1], A_lo2 = lo[2]
    B = fetch FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1], B_stride1 = stride[1], B_lo2 = lo[2]
    leaf where active:  # loops: nothing is summed
        for j in 0 .. n:  # distinct, permutable
            let ii_end = min(ceil_div(n, p), n - io * ceil_div(n, p))
            for ii_tile in 0 .. ii_end by 32:  # distinct
                for k_tile in 0 .. n by 256:  # distinct
                    let ii_tile_end = min(ii_tile + 32, ii_end)
                    let k_tile_end = min(k_tile + 256, n)
                    for ii in ii_tile .. ii_tile_end:  # distinct
                        let i = io * ceil_div(n, p) + ii
                        for k in k_tile .. k_tile_end:  # distinct
                            A[(i - A_lo0) * A_stride0 + (j - A_lo1) * A_stride1 + k - A_lo2] = B[(k - B_lo0) * B_stride0 + (j - B_lo1) * B_stride1 + i - B_lo2] * B[(k - B_lo0) * B_stride0 + (j - B_lo1) * B_stride1 + i - B_lo2]
    release FETCH_B
    reduce REDUCE_A
