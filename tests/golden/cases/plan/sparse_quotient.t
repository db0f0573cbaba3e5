# A quotient whose divisor is not stored everywhere has a value also where its dividend has no entry. So it is
# the entries of C that name elements of x, while those of B name elements of y and z.
# run: plan {file} --in B=random:1:0.2 --in C=random:2:0.5
--- program
param n = 30
machine M = grid(3)
tensor B(n): f64, csf
tensor C(n): f64, csf
tensor x(n): f64
tensor y(n): f64
tensor z(n): f64
tensor a(n): f64
tensor b(n): f64
place B(i) -> M(i)
place C(i) -> M(i)
place x(i) -> M(0)
place y(i) -> M(0)
place z(i) -> M(0)
a(i) = B(i) / (C(i) * x(i))
b(i) = sqrt(B(i)) * y(i) / z(i)
--- stdout
sparse_quotient.distal on 3 ranks

a(i) = B(i) / (C(i) * x(i))
  at most 1052 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries    entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance
  B       local    io      1           0 B        0 B             0     76 B      0 B        6      2.500
  C       local    io      1           0 B        0 B             0    112 B      0 B       16      1.500
  x       gather   io      1          64 B      104 B             1    240 B    144 B        -          -
  a       local    io      1           0 B        0 B             0     80 B      0 B        -          -

b(i) = sqrt(B(i)) * y(i) / z(i)
  at most 1028 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries    entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored  imbalance
  B       local    io      1           0 B        0 B             0     76 B      0 B        6      2.500
  y       gather   io      1          40 B       48 B             1    240 B     60 B        -          -
  z       gather   io      1          40 B       48 B             1    240 B     60 B        -          -
  b       local    io      1           0 B        0 B             0     80 B      0 B        -          -

all statements
  200 B in 6 messages; at most 1052 B of memory in a rank
