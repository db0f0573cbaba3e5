# Diagonals of any length where each rank has its part at home, in rows, columns or blocks of rows: nothing is
# listed, moved or in a buffer.
# run: plan --ranks 4 {file}
--- program
param n = 200000000

machine M = grid(4)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n, 3): f32
tensor D(n, n): f64
tensor d(n): f64
place A(x, y) -> M(x)
place B(x, y) -> M(y)
place C(x, y, z) -> M(cyclic(x, 1000))
place D(x, y) -> M(x)
place d(x) -> M(x)

A(i, i) = 2 * A(i, i)
B(i, i) += 2
C(i, i, j) = 1 / C(i, i, j)
D(i, i) = d(i)

schedule B {
  distribute({i}, {io}, {ii}, M)
}
--- stdout
diagonals.distal on 4 ranks

A(i, i) = 2 * A(i, i)
  200000000 flop; at most 319.7 PiB of memory in a rank

                                     moved      moved      messages      home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank   largest  largest
  A       local    io      1           0 B        0 B             0  71.1 PiB      0 B

B(i, i) += 2
  200000000 flop; at most 319.7 PiB of memory in a rank

                                     moved      moved      messages      home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank   largest  largest
  B       local    io      1           0 B        0 B             0  71.1 PiB      0 B

C(i, i, j) = 1 / C(i, i, j)
  600000000 flop; at most 319.7 PiB of memory in a rank

                                     moved      moved      messages       home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank    largest  largest
  C       local    io      1           0 B        0 B             0  106.6 PiB      0 B

D(i, i) = d(i)
  0 flop; at most 319.7 PiB of memory in a rank

                                     moved      moved      messages       home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank    largest  largest
  D       local    io      1           0 B        0 B             0   71.1 PiB      0 B
  d       local    io      1           0 B        0 B             0  381.5 MiB      0 B

all statements
  1000000000 flop; 0 B in 0 messages; at most 319.7 PiB of memory in a rank
