# run: help place
--- program
tensor a: f64
--- stdout
place: where tensors live

place T(x, y) -> M(...) names every mode of T, and for every dimension of M
  x               that mode, in contiguous blocks of ceil(extent / size) coordinates
  cyclic(x, b)    that mode, in blocks of b coordinates, round-robin
  balanced(x)     that mode, in contiguous blocks whose lengths differ by one at most, longer ones first
  blocks(x, {0, 3, 5})  that mode, in blocks from each boundary to the next
  weighted(x)     whole coordinates of a sparse tensor, with as equal numbers of entries as can be
  weighted(x, B)  the blocks of mode x of the sparse tensor B
  ~x              the coordinates that hold entries, divided evenly
  ~fuse(x, y)     the entries, divided evenly
  3               only processors with this coordinate hold anything
  *               all along this dimension hold the same
A hierarchy takes one arrow a level. Without a place, a tensor lives where the schedule needs it first.

example:
  param n = 100
  machine L = node grid(2, 2), core grid(2)
  tensor A(n, n): f64
  place A(x, y) -> L.node(x, y), A(x, y) -> L.core(x)
