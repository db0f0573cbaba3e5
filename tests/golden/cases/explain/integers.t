# run: explain {file}
--- program
param n = 7
tensor a: i32
tensor B(n, n): i32
a += B(i, i) / 3
--- stdout
# a += B(i, i) / 3

forall(i) a += B(i, i) / 3

# one process
# one processor
accumulate a
fetch B[:, :]
# loops: too few loops
for i in 0 .. n:
    a += B(i, i) / 3
release B
reduce a
