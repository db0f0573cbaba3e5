# run: schedule {file} -n 4 --memory-limit 500
# status: 1
--- program
param m = 601, n = 397, q = 853
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64
A(i, j) = B(i, k) * C(k, j)
--- stderr
memory_limit_refused.distal:5:1: error: no schedule was found that keeps a rank within 500 B of memory: this statement needs 2.1 MiB on 4 ranks
   5 | A(i, j) = B(i, k) * C(k, j)
     | ^~~~~~~~~~~~~~~~~~~~~~~~~~~
memory_limit_refused.distal: note: more ranks need less memory each
