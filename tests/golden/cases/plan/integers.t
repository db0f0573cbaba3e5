# run: plan {file}
--- program
param n = 7
tensor a: i32
tensor B(n, n): i32
a += B(i, i) / 3
--- stdout
integers.distal on 1 rank

a += B(i, i) / 3
  14 flop; at most 200 B of memory in a rank

                              moved: most     moved:  messages: most  home: most  buffers: most
  tensor  pattern  at  steps    of a rank  all ranks       of a rank   of a rank      of a rank
  a       local    -       1          0 B        0 B               0         4 B            0 B
  B       local    -       1          0 B        0 B               0       196 B            0 B
