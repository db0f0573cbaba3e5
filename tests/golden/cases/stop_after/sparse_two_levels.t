# A mode that two levels of the machine divide, one of them block-cyclically: what is stored is visited, and coordinates of other processors are skipped.
# run: explain {file} --stop-after loops
--- program
machine M = node grid(2), core grid(2)
tensor B(4611686018427387904): f64, {compressed}
tensor y: f64
place B(i) -> M.node(cyclic(i, 4)), B(z) -> M.core(z)
y = B(i)
--- stdout
# REDUCE_y: reduce y
# FETCH_B: fetch B[cyclic(io, 4)[iio * 1152921504606846976 : (iio + 1) * 1152921504606846976]]
for each processor (io, iio), active:
    y = open REDUCE_y
    B = fetch FETCH_B with B_pos1 = levels[0].arrays[0], B_crd1 = levels[0].arrays[1]
    leaf where active && B && y:  # loops: 'B' is sparse
        let iii_end = min(1152921504606846976, 2305843009213693952 + min(4, max(0, -io * 4)) - iio * 1152921504606846976)
        let i_first = (iio * 1152921504606846976 / 4 * 2 + io) * 4 + iio * 1152921504606846976 % 4
        let i_last = (floor_div(iio * 1152921504606846976 + (max(iii_end, 1) - 1), 4) * 2 + io) * 4 + (iio * 1152921504606846976 + (max(iii_end, 1) - 1)) % 4
        let B_begin1 = B_pos1[0]
        let B_end1 = B_pos1[1]
        let B_from1 = distal_search_i64(&B_crd1[0], B_begin1, B_end1, i_first)
        let B_to1 = distal_search_i64(&B_crd1[0], B_from1, B_end1, i_last + max(0, min(iii_end, 1)))
        workspace sum
        for B_p1 in B_from1 .. B_to1:  # threads, vector, sum sum, work B_to1 - B_from1
            let i = B_crd1[B_p1]
            if i / 4 % 2 == io:
                let ii = i / 4 / 2 * 4 + i % 4
                if ii - iio * 1152921504606846976 > -1 && ii - iio * 1152921504606846976 < 1152921504606846976:
                    sum += B[B_p1]
        y[0] += sum
    release FETCH_B
    reduce REDUCE_y
