# Operands that are stored across the result, in blocks: a copy is transposed into it, others into blocks.
# run: explain --stop-after loops:transposes {file}
--- program
param n = 300, p = 2
machine M = grid(p)
tensor A(n, n, n): f64
tensor B(n, n, n): f64
tensor C(n, n, n): c64
tensor D(n, n, n): c64
place A(x, y, z) -> M(x)
A(i, j, k) = B(k, j, i)
C(i, j, k) = D(i, j, k) - B(k, j, i) * D(k, j, i)
--- stdout
# REDUCE_A: reduce A[io * ceil_div(n, p) : (io + 1) * ceil_div(n, p), :, :]
# FETCH_B: fetch B[:, :, io * ceil_div(n, p) : (io + 1) * ceil_div(n, p)]
for each processor (io), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1], A_stride1 = stride[1], A_lo2 = lo[2]
    B = fetch FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1], B_stride1 = stride[1], B_lo2 = lo[2]
    leaf where active:  # loops: nothing is summed; 'B' is stored across 'A': blocks are transposed
        let A_is_large = 8 * n * min(ceil_div(n, p), n - io * ceil_div(n, p)) * n > 33554432
        for j in 0 .. n:  # distinct
            let ii_end = min(ceil_div(n, p), n - io * ceil_div(n, p))
            for ii_tile in 0 .. ii_end by 64:  # distinct
                for k_tile in 0 .. n by 512:  # distinct
                    let ii_tile_end = min(ii_tile + 64, ii_end)
                    let k_tile_end = min(k_tile + 512, n)
                    distal_transpose_8(ii_tile_end - ii_tile, k_tile_end - k_tile, &A[(io * ceil_div(n, p) + ii_tile - A_lo0) * A_stride0 + (j - A_lo1) * A_stride1 + k_tile - A_lo2], A_stride0, &B[(k_tile - B_lo0) * B_stride0 + (j - B_lo1) * B_stride1 + (io * ceil_div(n, p) + ii_tile) - B_lo2], B_stride0, A_is_large)
    release FETCH_B
    reduce REDUCE_A

# REDUCE_C: reduce C[:, :, :]
# FETCH_D: fetch D[:, :, :]
# FETCH_B: fetch B[:, :, :]
# FETCH_D_2: fetch D[:, :, :]
for each processor (), active:
    C = open REDUCE_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1], C_stride1 = stride[1], C_lo2 = lo[2]
    start FETCH_D
    start FETCH_B
    start FETCH_D_2
    D = wait FETCH_D with D_lo0 = lo[0], D_stride0 = stride[0], D_lo1 = lo[1], D_stride1 = stride[1], D_lo2 = lo[2]
    B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1], B_stride1 = stride[1], B_lo2 = lo[2]
    D_2 = wait FETCH_D_2 with D_2_lo0 = lo[0], D_2_stride0 = stride[0], D_2_lo1 = lo[1], D_2_stride1 = stride[1], D_2_lo2 = lo[2]
    leaf where active:  # loops: nothing is summed; 'B' is stored across 'C': blocks are transposed
        for j in 0 .. n:  # distinct
            for i_tile in 0 .. n by 64:  # distinct
                for k_tile in 0 .. n by 64:  # distinct
                    let i_tile_end = min(i_tile + 64, n)
                    let k_tile_end = min(k_tile + 64, n)
                    workspace B_block[4096]
                    distal_transpose_8(i_tile_end - i_tile, k_tile_end - k_tile, &B_block[0], 64, &B[(k_tile - B_lo0) * B_stride0 + (j - B_lo1) * B_stride1 + i_tile - B_lo2], B_stride0, 0)
                    workspace D_block[4096]
                    distal_transpose_8(i_tile_end - i_tile, k_tile_end - k_tile, &D_block[0], 64, &D_2[(k_tile - D_2_lo0) * D_2_stride0 + (j - D_2_lo1) * D_2_stride1 + i_tile - D_2_lo2], D_2_stride0, 0)
                    for i in i_tile .. i_tile_end:  # distinct
                        for k in k_tile .. k_tile_end:  # distinct
                            C[(i - C_lo0) * C_stride0 + (j - C_lo1) * C_stride1 + k - C_lo2] = (double _Complex)D[(i - D_lo0) * D_stride0 + (j - D_lo1) * D_stride1 + k - D_lo2] - B_block[(i - i_tile) * 64 + (k - k_tile)] * (double _Complex)D_block[(i - i_tile) * 64 + (k - k_tile)]
    release FETCH_D_2
    release FETCH_B
    release FETCH_D
    reduce REDUCE_C
