# run: run {file} --in B=ones --out B=B.npy
# status: 2
--- program
tensor a: f64
tensor B(4): f64
a = 1
--- stderr
distal: error: --in B=ones: 'B' is not an input: no statement reads it
distal: error: --out B=B.npy: no statement uses 'B'
