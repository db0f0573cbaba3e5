# run: explain {file}
--- program
param n = 64
tensor A(n, n): f32
tensor B(n, n): f32
tensor c(n): f32
A(i, j) = B(j, i) + c(j)
schedule A {
  split(j, jo, ji, 8)
  parallelize(i, cpu_thread)
  parallelize(ji, cpu_vector)
  unroll(jo, 2)
}
--- stdout
# A(i, j) = B(j, i) + c(j)

forall(i) forall(j) A(i, j) = B(j, i) + c(j)

# after split(j, jo, ji, 8)
forall(i) forall(jo) forall(ji) A(i, j) = B(j, i) + c(j)
    s.t. split(j, jo, ji, 8)

# after parallelize(i, cpu_thread)
forall(i) forall(jo) forall(ji) A(i, j) = B(j, i) + c(j)
    s.t. split(j, jo, ji, 8), parallelize(i, cpu_thread)

# after parallelize(ji, cpu_vector)
forall(i) forall(jo) forall(ji) A(i, j) = B(j, i) + c(j)
    s.t. split(j, jo, ji, 8), parallelize(i, cpu_thread), parallelize(ji, cpu_vector)

# after unroll(jo, 2)
forall(i) forall(jo) forall(ji) A(i, j) = B(j, i) + c(j)
    s.t. split(j, jo, ji, 8), parallelize(i, cpu_thread), parallelize(ji, cpu_vector),
         unroll(jo, 2)

# one process
# one processor
accumulate A[:, :]
fetch B[:, :]
fetch c[:]
# loops: the schedule says how 'i' is executed
for i in 0 .. n:  # threads
    for jo in 0 .. ceil_div(n, 8):  # unrolled 2
        for ji in 0 .. min(8, n - jo * 8):  # vector
            j = jo * 8 + ji
            A(i, j) = B(j, i) + c(j)
release c
release B
reduce A
