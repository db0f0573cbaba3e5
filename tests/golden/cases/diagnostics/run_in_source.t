# run: run --in B=something {file}
# status: 2
--- program
tensor A(2, 3): f64
tensor B(2, 3): f64
tensor k: i32
A(i, j) = B(i, j) * k
--- stderr
distal: error: 'something' is not a source for B (expected PATH.npy, PATH.mtx, PATH.tns, PATH.h5, PATH.h5:/NAME, zeros, ones, iota, const:V, random:SEED[:DENSITY], sparse:SEED:COUNT, rmat:SEED:SCALE:EDGES or stencil:POINTS)
