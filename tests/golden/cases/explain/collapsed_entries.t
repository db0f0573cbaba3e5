# A loop that is collapsed from what a tensor stores iterates over its positions; not where others have more entries, or a part of it is meant.
# run: explain {file}
--- program
tensor B(8, 9): f64, csr
tensor C(8, 9): f64, csr
tensor A(8, 9): f64
A(i, j) = B(i, j) * C(i, j)
schedule A { collapse(i, j, f); parallelize(f, cpu_thread) }
A(i, j) = B(i, j) + C(i, j)
schedule A { collapse(i, j, f); parallelize(f, cpu_thread) }
A(i, j) = B(i, j) * C(i, j)
schedule A { collapse(i, j, f); split(f, fo, fi, 4) }
--- stdout
# A(i, j) = B(i, j) * C(i, j)

forall(i) forall(j) A(i, j) += B(i, j) * C(i, j)

# after collapse(i, j, f)
forall(f) A(i, j) += B(i, j) * C(i, j)
    s.t. collapse(i, j, f)

# after parallelize(f, cpu_thread)
forall(f) A(i, j) += B(i, j) * C(i, j)
    s.t. collapse(i, j, f), parallelize(f, cpu_thread)

# with the defaults
forall(fp) A(i, j) += B(i, j) * C(i, j)
    s.t. collapse(i, j, f), parallelize(fp, cpu_thread), pos(f, fp, B(i, j))

# one process
# one processor
accumulate A[:, :]
fetch B[:, :]
fetch C[:, :]
# loops: 'B' is sparse
for fp in 0 .. fp_count:  # threads
    A(i, j) += B(i, j) * C(i, j)
release C
release B
reduce A

# A(i, j) = B(i, j) + C(i, j)

forall(i) forall(j) A(i, j) += B(i, j) + C(i, j)

# after collapse(i, j, f)
forall(f) A(i, j) += B(i, j) + C(i, j)
    s.t. collapse(i, j, f)

# after parallelize(f, cpu_thread)
forall(f) A(i, j) += B(i, j) + C(i, j)
    s.t. collapse(i, j, f), parallelize(f, cpu_thread)

# one process
# one processor
accumulate A[:, :]
fetch B[:, :]
fetch C[:, :]
# loops: 'B' is sparse
for f in 0 .. 72:  # threads
    j = f % 9
    i = f / 9
    A(i, j) += B(i, j) + C(i, j)
release C
release B
reduce A

# A(i, j) = B(i, j) * C(i, j)

forall(i) forall(j) A(i, j) += B(i, j) * C(i, j)

# after collapse(i, j, f)
forall(f) A(i, j) += B(i, j) * C(i, j)
    s.t. collapse(i, j, f)

# after split(f, fo, fi, 4)
forall(fo) forall(fi) A(i, j) += B(i, j) * C(i, j)
    s.t. collapse(i, j, f), split(f, fo, fi, 4)

# one process
# one processor
accumulate A[:, :]
fetch B[:, :]
fetch C[:, :]
# loops: 'B' is sparse
for fo in 0 .. 18:
    for fi in 0 .. min(4, 72 - fo * 4):
        f = fo * 4 + fi
        j = f % 9
        i = f / 9
        A(i, j) += B(i, j) * C(i, j)
release C
release B
reduce A
