# run: plan --machine m.machine {file}
--- program
# A time for each statement, and for all of them together with a repetition.
param n = 1000
tensor A(n, n): f64
tensor x(n): f64
tensor y(n): f64
y(i) = A(i, j) * x(j)
repeat 10 {
  x(i) = 0.5 * y(i)
  y(i) = A(i, j) * x(j)
}
--- file m.machine
machine "a small one"
level node 4 memory 64GiB copy 100GB/s latency 2us bandwidth 1KiB:1GB/s 1MiB:10GB/s link 12GB/s
level core 2 copy 20GB/s latency 0.5us bandwidth 5GB/s
rate gemm 16:1GFLOP/s 1024:16GFLOP/s
rate loops 2GFLOP/s
--- stdout
machine_statements.distal on 1 rank
predicted for a small one: 1 rank in a node, of 2 threads

y(i) = A(i, j) * x(j)
  2000000 flop; at most 7.6 MiB of memory in a rank

                                     moved      moved      messages     home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local    -       1           0 B        0 B             0  7.6 MiB      0 B
  x       local    -       1           0 B        0 B             0   8000 B      0 B
  y       local    -       1           0 B        0 B             0   8000 B      0 B
  predicted: 527 us: computing 527 us, memory 201 us, network 0 us, disk 0 us; 201 us of these at the same time as others; computing takes 100%
  moved by the busiest rank: 0 B; by any schedule at least 0 B: the sides of I J K / P products, less what is at home; I = 1000, J = 1, K = 1000, P = 1

x(i) = 0.5 * y(i)
  each of 10 executions: 1000 flop; at most 7.6 MiB of memory in a rank

                                     moved      moved      messages     home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest
  x       local    -       1           0 B        0 B             0   8000 B      0 B
  y       local    -       1           0 B        0 B             0   8000 B      0 B
  predicted: 0.963 us: computing 0.763 us, memory 0.8 us, network 0 us, disk 0 us; 0.6 us of these at the same time as others; memory takes 83%
  moved by the busiest rank: 0 B; by any schedule at least 0 B: a share of each tensor, less what is at home

y(i) = A(i, j) * x(j)
  each of 10 executions: 2000000 flop; at most 7.6 MiB of memory in a rank

                                     moved      moved      messages     home  buffers
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest
  A       local    -       1           0 B        0 B             0  7.6 MiB      0 B
  x       local    -       1           0 B        0 B             0   8000 B      0 B
  y       local    -       1           0 B        0 B             0   8000 B      0 B
  predicted: 527 us: computing 527 us, memory 201 us, network 0 us, disk 0 us; 201 us of these at the same time as others; computing takes 100%
  moved by the busiest rank: 0 B; by any schedule at least 0 B: the sides of I J K / P products, less what is at home; I = 1000, J = 1, K = 1000, P = 1

all statements
  22010000 flop; 0 B in 0 messages; at most 7.6 MiB of memory in a rank
  predicted: 5.81 ms
