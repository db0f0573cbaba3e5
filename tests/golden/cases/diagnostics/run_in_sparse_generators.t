# run: run --in B=sparse:1 --in C=sparse:x:3 --in D=sparse:1:-3 --in E=rmat:1:63:10 --in F=rmat:1:3 --in G=stencil:11 --in H=rmat:-1:3:4 --in I=rmat:1:3:x {file}
# status: 2
--- program
tensor A(3, 3): f64
tensor B(3, 3): f64, csr
tensor C(3, 3): f64, csr
tensor D(3, 3): f64, csr
tensor E(3, 3): f64, csr
tensor F(3, 3): f64, csr
tensor G(3, 3): f64, csr
tensor H(3, 3): f64, csr
tensor I(3, 3): f64, csr
A(i, j) = B(i, j) + C(i, j) + D(i, j) + E(i, j) + F(i, j) + G(i, j) + H(i, j) + I(i, j)
--- stderr
distal: error: 'sparse:1' is not a source for B: expected sparse:SEED:COUNT
distal: error: the seed in 'sparse:x:3', the source of C, is not an integer from 0 to 18446744073709551615
distal: error: the number of entries in 'sparse:1:-3', the source of D, is not an integer from 0 to 9223372036854775807
distal: error: the scale in 'rmat:1:63:10', the source of E, is not an integer from 0 to 62
distal: error: 'rmat:1:3' is not a source for F: expected rmat:SEED:SCALE:EDGES
distal: error: the number of points in 'stencil:11', the source of G, is not 3, 5, 7, 9 or 27
distal: error: the seed in 'rmat:-1:3:4', the source of H, is not an integer from 0 to 18446744073709551615
distal: error: the number of edges in 'rmat:1:3:x', the source of I, is not an integer from 0 to 9223372036854775807
