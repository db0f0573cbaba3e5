# A tensor that no statement reads, whose entries its placement asks for, has none.
# run: run -n 3 -q --check {file}
--- program
machine M = grid(3)
tensor B(7, 7): c128, csr
tensor y(7): f64
tensor z(7): c128
tensor m: f64
place B(x, y) -> M(~fuse(x, y))
place y(x) -> M(x)
place z(x) -> M(x)
m max= abs(z(i))
y(i) = real(conj(z(i)) * 2i)
--- stdout
m = 1.2994868815561413
