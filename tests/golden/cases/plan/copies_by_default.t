# Threads add to copies of a small result of a sparse operand whose rows they share; a large one has no copies.
# run: plan {file} --threads 3
--- program
param n = 100000
param m = 10000000
tensor B(n, n): f64, csr
tensor L(n, m): f64, csr
tensor x(n): f64
tensor y(n): f64
tensor z(m): f64
y(j) = B(i, j) * x(i)
z(j) = L(i, j) * x(i)
--- stdout
copies_by_default.distal on 1 rank

y(j) = B(i, j) * x(i)
  at most 79.3 MiB of memory in a rank

                                     moved      moved      messages      home  buffers  entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank   largest  largest   stored
  B       local    -       1           0 B        0 B             0       0 B      0 B        ?
  x       local    -       1           0 B        0 B             0  800000 B      0 B        -
  y       local    -       1           0 B        0 B             0  800000 B  1.5 MiB        -
  The memory of B is not counted: what is stored is known once it is given or computed.

z(j) = L(i, j) * x(i)
  at most 77.8 MiB of memory in a rank

                                     moved      moved      messages      home  buffers  entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank   largest  largest   stored
  L       local    -       1           0 B        0 B             0       0 B      0 B        ?
  x       local    -       1           0 B        0 B             0  800000 B      0 B        -
  z       local    -       1           0 B        0 B             0  76.3 MiB      0 B        -
  The memory of L is not counted: what is stored is known once it is given or computed.

all statements
  0 B in 0 messages; at most 79.3 MiB of memory in a rank
