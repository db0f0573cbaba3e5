# Loops that cannot go over positions, and positions that cannot be had.
# run: explain {file} --stop-after loops
# status: 2
--- program
tensor B(8, 8): f64, csr
tensor T(8, 8): f64, csc
tensor M(8, 8): f64, {dense, bitmap}
tensor x(8): f64
tensor y(8): f64
tensor A(8, 8): f64
y(i) = B(i, j) * x(j)
schedule y { pos(i, p, x) }
y(i) = B(i, j) * x(j)
schedule y { pos(j, p, B(j, i)) }
y(i) = B(i, j) * x(j)
schedule y { pos(i, p, B(i, j)) }
y(i) = B(i, j) * x(j)
schedule y { pos(j, p, x(j)) }
y(i) = T(i, j) * x(j)
schedule y { collapse(i, j, f); pos(f, p, T(i, j)) }
y(i) = M(i, j) * x(j)
schedule y { pos(j, p, M(i, j)) }
y(i) = B(i, j) * x(j)
schedule y { split(j, jo, ji, 4); pos(ji, p, B(i, j)) }
y(i) = B(i, j) * x(j)
schedule y { pos(j, p, B(i, j)); pos(p, q, B(i, j)) }
y(i) = B(i, j) * x(j)
schedule y { collapse(i, j, f); pos(f, p, B(i, j)); parallelize(p, cpu_thread) }
--- stderr
pos.distal:8:24: error: cannot iterate over positions: expected an access, such as B(i, j)
   8 | schedule y { pos(i, p, x) }
     |                        ^
pos.distal:10:24: error: cannot iterate over positions: what is computed inside of loop 'j' does not read 'B' with these variables; give an access of the right side, as it is written there
  10 | schedule y { pos(j, p, B(j, i)) }
     |                        ^~~~~~~
pos.distal:12:24: error: cannot iterate over positions: 'B' stores every coordinate of 'i', whose positions are the coordinates; split or parallelize 'i' itself
  12 | schedule y { pos(i, p, B(i, j)) }
     |                        ^~~~~~~
pos.distal:14:24: error: cannot iterate over positions: 'x' stores every coordinate of 'j', whose positions are the coordinates; split or parallelize 'j' itself
  14 | schedule y { pos(j, p, x(j)) }
     |                        ^~~~
pos.distal:16:43: error: cannot iterate over positions: 'T' stores j and i in this order, so that its positions are not those of i and j; reorder and collapse loops as it stores them
  16 | schedule y { collapse(i, j, f); pos(f, p, T(i, j)) }
     |                                           ^~~~~~~
pos.distal:18:24: error: cannot iterate over positions: the level of 'M' with 'j' has no list of positions; 'j' can be iterated over by coordinates only
  18 | schedule y { pos(j, p, M(i, j)) }
     |                        ^~~~~~~
pos.distal:20:39: error: cannot iterate over positions: 'ji' is a part of a loop; apply pos to the whole loop, and split its positions
  20 | schedule y { split(j, jo, ji, 4); pos(ji, p, B(i, j)) }
     |                                       ^~
pos.distal:22:38: error: cannot iterate over positions: 'p' is a part of a loop; apply pos to the whole loop, and split its positions
  22 | schedule y { pos(j, p, B(i, j)); pos(p, q, B(i, j)) }
     |                                      ^
pos.distal:24:65: error: cannot parallelize: threads would race: iterations of 'p' add to the same elements of 'y'; give a race strategy (atomic, reduction or temporary)
  24 | schedule y { collapse(i, j, f); pos(f, p, B(i, j)); parallelize(p, cpu_thread) }
     |                                                                 ^
