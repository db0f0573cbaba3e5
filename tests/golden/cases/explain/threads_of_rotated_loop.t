# run: explain {file}
--- program
# Under one k, every r goes with another i.
tensor A(90): f64
tensor B(90, 70): f64
A(i) = B(i, k)
schedule A {
  reorder({k, i})
  rotate(i, {k}, r)
  parallelize(r, cpu_thread)
}
--- stdout
# A(i) = B(i, k)

forall(i) forall(k) A(i) += B(i, k)

# after reorder({k, i})
forall(k) forall(i) A(i) += B(i, k)

# after rotate(i, {k}, r)
forall(k) forall(r) A(i) += B(i, k)
    s.t. rotate(i, {k}, r)

# after parallelize(r, cpu_thread)
forall(k) forall(r) A(i) += B(i, k)
    s.t. rotate(i, {k}, r), parallelize(r, cpu_thread)

# one process
# one processor
accumulate A[:]
fetch B[:, :]
# loops: the schedule says how 'r' is executed
for k in 0 .. 70:
    for r in 0 .. 90:  # threads
        i = (r + k) % 90
        A(i) += B(i, k)
release B
reduce A
