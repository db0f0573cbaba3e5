# Inputs and outputs that do not fit the program: all of them are reported.
# run: run {file} --in C=ones --in A=ones --in B=one --out Q=x.npy --out A=x.txt --in B=ones
# status: 2
--- program
machine M = grid(2)
tensor A(4): f64
tensor B(4): f64
place A(x) -> M(x)
place B(x) -> M(x)
A(i) = B(i)
--- stderr
distal: error: --in C=ones: the program has no tensor 'C' (tensors: A B)
distal: error: --in A=ones: 'A' is not an input: the program computes it
distal: error: 'one' is not a source for B; did you mean 'ones'? (expected PATH.npy, PATH.mtx, PATH.tns, PATH.h5, PATH.h5:/NAME, zeros, ones, iota, const:V, random:SEED[:DENSITY], sparse:SEED:COUNT, rmat:SEED:SCALE:EDGES or stencil:POINTS)
distal: error: --in B=ones: 'B' is given twice
distal: error: --out Q=x.npy: the program has no tensor 'Q' (tensors: A B)
distal: error: cannot write A to 'x.txt': the ending must be one of .npy, .mtx, .tns, .csv, .h5, .h5:/NAME
