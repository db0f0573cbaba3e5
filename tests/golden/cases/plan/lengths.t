# What moves between blocks of different lengths.
# run: plan --ranks 4 {file}
--- program
machine M = grid(4)
tensor x(10): f64
tensor y(10): f64
tensor z(10): f64
place x(i) -> M(i)
place y(i) -> M(balanced(i))
place z(i) -> M(blocks(i, {0, 0, 1, 9, 10}))
y(i) = x(i)
z(i) = y(i)
--- stdout
lengths.distal on 4 ranks

y(i) = x(i)
  0 flop; at most 104 B of memory in a rank

                                      moved      moved      messages     home  buffers
  tensor  pattern   at  steps  busiest rank  all ranks  busiest rank  largest  largest
  x       exchange  io      1           8 B        8 B             1     24 B     16 B
  y       local     io      1           0 B        0 B             0     24 B      0 B

z(i) = y(i)
  0 flop; at most 168 B of memory in a rank

                                      moved      moved      messages     home  buffers
  tensor  pattern   at  steps  busiest rank  all ranks  busiest rank  largest  largest
  y       exchange  io      1          48 B       56 B             3     24 B     64 B
  z       local     io      1           0 B        0 B             0     64 B      0 B

all statements
  0 flop; 64 B in 5 messages; at most 168 B of memory in a rank
