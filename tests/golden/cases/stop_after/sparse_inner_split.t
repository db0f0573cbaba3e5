# A loop over entries that is the inner part of an inner part: its first coordinate follows from both loops outside.
# run: explain {file} --stop-after loops
--- program
tensor y(50): f64
tensor B(50, 50): f64, csr
tensor x(50): f64
y(i) = B(i, j) * x(j)
schedule y {
  split(j, jo, ji, 20)
  split(ji, jio, jii, 3)
}
--- stdout
# REDUCE_y: reduce y[:]
# FETCH_B: fetch B[:, :]
# FETCH_x: fetch x[:]
for each processor (), active:
    y = open REDUCE_y with y_lo0 = lo[0]
    start FETCH_B
    start FETCH_x
    B = wait FETCH_B with B_lo0 = lo[0], B_extent0 = extent[0], B_pos2 = levels[1].arrays[0], B_crd2 = levels[1].arrays[1]
    x = wait FETCH_x with x_lo0 = lo[0]
    leaf where active && y:  # loops: 'B' is sparse
        for i in 0 .. 50:  # distinct, threads, work 150
            let B_p1 = i - B_lo0
            workspace sum
            for jo in 0 .. 3:  # sum sum
                let jio_end = min(7, ceil_div(min(20, 50 - jo * 20), 3))
                let B_pos2_value: i64 = jio_end > 0 ? B_pos2[B_p1] : 0L
                let B_pos2_value_2: i64 = jio_end > 0 ? B_pos2[B_p1 + 1] : 0L
                for jio in 0 .. jio_end:  # sum sum
                    let jii_end = min(3, min(20, 50 - jo * 20) - jio * 3)
                    let B_begin2 = B_pos2_value
                    let B_end2 = B_pos2_value_2
                    let B_from2 = distal_search_i32(&B_crd2[0], B_begin2, B_end2, jo * 20 + jio * 3)
                    let B_to2 = distal_search_i32(&B_crd2[0], B_from2, B_end2, jo * 20 + jio * 3 + jii_end)
                    for B_p2 in B_from2 .. B_to2:  # sum sum
                        let j = B_crd2[B_p2]
                        sum += B[B_p2] * x[j - x_lo0]
            y[i - y_lo0] += sum
    release FETCH_x
    release FETCH_B
    reduce REDUCE_y
