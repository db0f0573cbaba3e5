# Figures are of each execution; the total is of all, and the buffers of both statements are there at the same
# time.
# run: plan {file}
--- program
param n = 8
machine M = grid(2)
tensor A(n, n): f64
tensor x(n): f64
tensor y(n): f64
tensor s: f64
place A(i, j) -> M(i)
place x(i) -> M(i)
place y(i) -> M(i)
x(i) = 1
repeat 5 {
  y(i) = A(i, j) * x(j)
  repeat n { x(i) = A(i, j) * y(j); s = y(i) } until s < 0.5
}
--- stdout
plan.distal on 2 ranks

x(i) = 1
  0 flop; at most 328 B of memory in a rank

                                     moved      moved      messages     home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest
  x       local    io      1           0 B        0 B             0     32 B      0 B

y(i) = A(i, j) * x(j)
  each of 5 executions: 128 flop; at most 464 B of memory in a rank

                                        moved      moved      messages     home  buffers
  tensor  pattern     at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local       io      1           0 B        0 B             0    256 B      0 B
  x       all-gather  io      1          32 B       64 B             1     32 B     64 B
  y       local       io      1           0 B        0 B             0     32 B      0 B

x(i) = A(i, j) * y(j)
  each of up to 40 executions: 128 flop; at most 464 B of memory in a rank

                                        moved      moved      messages     home  buffers
  tensor  pattern     at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local       io      1           0 B        0 B             0    256 B      0 B
  x       local       io      1           0 B        0 B             0     32 B      0 B
  y       all-gather  io      1          32 B       64 B             1     32 B     64 B

s = y(i)
  each of up to 40 executions: 8 flop; at most 464 B of memory in a rank

                                        moved      moved      messages     home  buffers
  tensor  pattern     at  steps  busiest rank  all ranks  busiest rank  largest  largest
  y       local       io      1           0 B        0 B             0     32 B      0 B
  s       all-reduce  io      1           8 B       16 B             1      8 B      8 B

all statements, at most
  6080 flop; 3520 B in 170 messages; at most 464 B of memory in a rank
