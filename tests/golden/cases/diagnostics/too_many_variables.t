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
tensor T6(2, 2, 2, 2): f64
a = T0(v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11) * T1(v12, v13, v14, v15, v16, v17, v18, v19, v20, v21, v22, v23) * T2(v24, v25, v26, v27, v28, v29, v30, v31, v32, v33, v34, v35) * T3(v36, v37, v38, v39, v40, v41, v42, v43, v44, v45, v46, v47) * T4(v48, v49, v50, v51, v52, v53, v54, v55, v56, v57, v58, v59) * T5(v60, v61, v62, v63, v64, v65, v66, v67, v68, v69, v70, v71)
a = T0(v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11) * T1(v12, v13, v14, v15, v16, v17, v18, v19, v20, v21, v22, v23) * T2(v24, v25, v26, v27, v28, v29, v30, v31, v32, v33, v34, v35) * T3(v36, v37, v38, v39, v40, v41, v42, v43, v44, v45, v46, v47) * T4(v48, v49, v50, v51, v52, v53, v54, v55, v56, v57, v58, v59) * T6(v60, v61, v62, v63) for v0 in 1 : 2
--- stderr
too_many_variables.distal:9:343: error: a statement has at most 64 index variables; indices such as i + 1, ranges, and variables that commands make count as well
   9 |  v42, v43, v44, v45, v46, v47) * T4(v48, v49, v50, v51, v52, v53, v54, v55, v56, v57, v58, v59) * T5(v60, v61, v62, v63, v64, v65, v66, v67, v68, v69, v70, v71)
     |                                                                                                                          ^~~
too_many_variables.distal:10:347: error: a statement has at most 64 index variables; indices such as i + 1, ranges, and variables that commands make count as well
  10 | v37, v38, v39, v40, v41, v42, v43, v44, v45, v46, v47) * T4(v48, v49, v50, v51, v52, v53, v54, v55, v56, v57, v58, v59) * T6(v60, v61, v62, v63) for v0 in 1 : 2
     |                                                                                                                                                      ^~
