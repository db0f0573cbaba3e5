# A level that entries balance inside of one by which the loop is not divided.
# run: check {file}
# status: 2
--- program
machine L = node grid(2), core grid(3)
tensor B(20, 30): f64, csr; tensor x(30): f64; tensor y(20): f64
place B(r, c) -> L.node(weighted(r)), B(r, c) -> L.core(~r)
y(i) = B(i, j) * x(j)
schedule y {
  distribute({i}, {io}, {ii}, L.node)
  distribute({ii}, {iio}, {iii}, B)
}
--- stderr
distribute_balanced_inside.distal:7:15: error: cannot distribute: at level 'node' the placement of 'B' balances parts, and 'ii' comes from a loop that is divided otherwise: distribute onto 'B' at that level, too
   7 |   distribute({ii}, {iio}, {iii}, B)
     |               ^~
