# run: explain --stop-after spmd {file}
--- program
# Rows inside of loops: a block of a row where its outer loop is outside, a scalar, a row that several nests fill, and
# threads that have rows of their own.
param n = 300, m = 200
tensor A(n, m): f64
tensor B(n, n, n): f64
tensor C(n, m): f64
tensor D(n, m): f64
tensor c(n): f64
tensor y(n): f64
tensor z(n, m): f64
A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
schedule A {
  precompute(B(i, j, k) * D(k, l), {l}, {l}, w)
  split(l, lo, li, 64)
  reorder({lo, i, j, li})
}
y(i) = sqrt(B(i, j, k) * c(k))
schedule y {
  precompute(B(i, j, k) * c(k), {}, {}, s)
}
z(i, l) = C(i, l) + B(i, i, k) * D(k, l)
schedule z {
  precompute(C(i, l) + B(i, i, k) * D(k, l), {l}, {lw}, v)
  parallelize(i, cpu_thread)
}
--- stdout
# one processor
accumulate A[:, :]
fetch C[:, :]
fetch B[:, :, :]
fetch D[:, :]
# loops: 'w' is filled and read in each iteration
for lo in 0 .. ceil_div(m, 64):
    for i in 0 .. n:
        for j in 0 .. n:
            workspace w[64], zero
            # loops: too few loops
            for li in 0 .. min(64, m - lo * 64):
                l = lo * 64 + li
                for k in 0 .. n:
                    w(l) += B(i, j, k) * D(k, l)
            # loops: too few loops
            for li in 0 .. min(64, m - lo * 64):
                l = lo * 64 + li
                A(i, l) += w(l) * C(j, l)
release D
release B
release C
reduce A

# one processor
accumulate y[:]
fetch B[:, :, :]
fetch c[:]
# loops: 's' is filled and read in each iteration
for i in 0 .. n:
    for j in 0 .. n:
        for k in 0 .. n:
            workspace s
            s = B(i, j, k) * c(k)
            y(i) += sqrt(s)
release c
release B
reduce y

# one processor
accumulate z[:, :]
fetch B[:, :, :]
fetch D[:, :]
fetch C[:, :]
# loops: 'v' is filled and read in each iteration
for i in 0 .. n:  # threads
    workspace v[m]
    # loops: the schedule says how 'i' is executed
    for lw in 0 .. m:
        v(lw) = C(i, lw)
    # loops: the schedule says how 'i' is executed
    for k in 0 .. n:
        for lw in 0 .. m:
            v(lw) += B(i, i, k) * D(k, lw)
    # loops: the schedule says how 'i' is executed
    for l in 0 .. m:
        z(i, l) = v(l)
release C
release D
release B
reduce z
