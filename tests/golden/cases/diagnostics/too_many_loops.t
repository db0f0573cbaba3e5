# run: check {file}
# status: 2
--- program
tensor a: f64
tensor T0(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2): f64
tensor T1(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2): f64
tensor T2(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2): f64
tensor T3(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2): f64
tensor T4(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2): f64
tensor T5(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2): f64
a = T0(v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11) * T1(v12, v13, v14, v15, v16, v17, v18, v19, v20, v21, v22, v23) * T2(v24, v25, v26, v27, v28, v29, v30, v31, v32, v33, v34, v35) * T3(v36, v37, v38, v39, v40, v41, v42, v43, v44, v45, v46, v47) * T4(v48, v49, v50, v51, v52, v53, v54, v55, v56, v57, v58, v59)
schedule a {
  split(v0, o0, i0, 1)
  split(v1, o1, i1, 1)
  split(v2, o2, i2, 1)
}
a = T0(v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11) * T1(v12, v13, v14, v15, v16, v17, v18, v19, v20, v21, v22, v23) * T2(v24, v25, v26, v27, v28, v29, v30, v31, v32, v33, v34, v35) * T3(v36, v37, v38, v39, v40, v41, v42, v43, v44, v45, v46, v47) * T4(v48, v49, v50, v51, v52, v53, v54, v55, v56, v57, v58, v59)
schedule a {
  precompute(T0(v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11), {v0, v1, v2, v3, v4}, {w0, w1, w2, w3, w4}, W)
}
--- stderr
too_many_loops.distal:12:3: error: cannot split: a statement has at most 64 index variables; indices such as i + 1, ranges, and variables that commands make count as well
  12 |   split(v2, o2, i2, 1)
     |   ^~~~~~~~~~~~~~~~~~~~
too_many_loops.distal:16:3: error: cannot precompute: a statement has at most 64 index variables; indices such as i + 1, ranges, and variables that commands make count as well
  16 |   precompute(T0(v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11), {v0, v1, v2, v3, v4}, {w0, w1, w2, w3, w4}, W)
     |   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
