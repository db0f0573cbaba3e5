# A loop over parts of different lengths has no number of iterations before these are known.
# run: check {file}
# status: 2
--- program
machine M = grid(2)
tensor a(5): f64; tensor b(5): f64
place a(x) -> M(balanced(x))
a(i) = b(i)
schedule a {
  distribute({i}, {io}, {ii}, a)
  distribute(ii)
}
--- stderr
distribute_lengths.distal:7:14: error: cannot distribute: 'ii' runs over parts of different lengths; divide(ii, ...), and distribute its outer loop
   7 |   distribute(ii)
     |              ^~
