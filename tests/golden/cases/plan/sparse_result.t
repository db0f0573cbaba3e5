# What a sparse result stores is not known before it is computed.
# run: plan --in B=iota {file}
--- program
tensor B(8, 8): f64, csr
tensor A(8, 8): f64, csr
A(i, j) = B(i, j) * 2
--- stdout
sparse_result.distal on 1 rank

A(i, j) = B(i, j) * 2
  at most 1332 B of memory in a rank

                                     moved      moved      messages     home  buffers  entries
  tensor  pattern  at  steps  busiest rank  all ranks  busiest rank  largest  largest   stored
  B       local    -       1           0 B        0 B             0    828 B      0 B       63
  A       local    -       1           0 B        0 B             0    504 B      0 B       63
