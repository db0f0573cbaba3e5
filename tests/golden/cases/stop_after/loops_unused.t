# The coordinates of loops that a library call replaces are not needed.
# run: explain --stop-after loops:unused {file}
--- program
# Cannon's algorithm: matrix multiplication on a g x g grid, where the tiles of B and C are shifted along their rows
# and columns one place a step (Cannon, 1969; DISTAL, figure 9).
# A is m x n, B is m x q, C is q x n; `-p n=N` alone makes all of them square. A grid that is not square
# (gx, gy) is right as well, but its tiles do not meet: they are gathered from wherever they are.
param n = 960, m = n, q = n, g = 2, gx = g, gy = g

machine M = grid(gx, gy)

tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64

place A(x, y) -> M(x, y)
place B(x, y) -> M(x, y)
place C(x, y) -> M(x, y)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  divide(k, ko, ki, gx)
  reorder({ko, ii, ji, ki})
  rotate(ko, {io, jo}, kos)
  communicate(A, jo)
  communicate({B, C}, kos)
}
--- stdout
# REDUCE_A: reduce A[io * ceil_div(m, gx) : (io + 1) * ceil_div(m, gx), jo * ceil_div(n, gy) : (jo + 1) * ceil_div(n, gy)]
# FETCH_B: fetch B[io * ceil_div(m, gx) : (io + 1) * ceil_div(m, gx), (kos + io + jo) % gx * ceil_div(q, gx) : ((kos + io + jo) % gx + 1) * ceil_div(q, gx)]
# FETCH_C: fetch C[(kos + io + jo) % gx * ceil_div(q, gx) : ((kos + io + jo) % gx + 1) * ceil_div(q, gx), jo * ceil_div(n, gy) : (jo + 1) * ceil_div(n, gy)]
let m_per_gx = ceil_div(m, gx)
let n_per_gy = ceil_div(n, gy)
let q_per_gx = ceil_div(q, gx)
for each processor (io, jo), active:
    A = open REDUCE_A with A_lo0 = lo[0], A_stride0 = stride[0], A_lo1 = lo[1]
    for kos in 0 .. gx:
        start FETCH_B
        start FETCH_C
        B = wait FETCH_B with B_lo0 = lo[0], B_stride0 = stride[0], B_lo1 = lo[1]
        C = wait FETCH_C with C_lo0 = lo[0], C_stride0 = stride[0], C_lo1 = lo[1]
        start next FETCH_B
        start next FETCH_C
        leaf where active:  # gemm over ii, ji, ki
            let ko = (kos + io + jo) % gx
            let i = io * m_per_gx
            let j = jo * n_per_gy
            let k = ko * q_per_gx
            let ii_end = min(m_per_gx, m - io * m_per_gx)
            let ji_end = min(n_per_gy, n - jo * n_per_gy)
            let ki_end = min(q_per_gx, q - ko * q_per_gx)
            if ii_end > 0 && ji_end > 0 && ki_end > 0:
                distal_gemm_f64(ii_end, ji_end, ki_end, 1, &B[(i - B_lo0) * B_stride0 + k - B_lo1], B_stride0, 1, &C[(k - C_lo0) * C_stride0 + j - C_lo1], C_stride0, 1, &A[(i - A_lo0) * A_stride0 + j - A_lo1], A_stride0, 1)
        release FETCH_C
        release FETCH_B
    reduce REDUCE_A
