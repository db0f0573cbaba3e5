# run: check {file}
# status: 2
--- program
machine Grid = grid(2)
tensor C(4): f64
tensor D(4): f64
C(i) = D(i)
schedule C {
  distribute({i}, {io}, {ii}, Grd)
}
--- stderr
neither_machine_nor_tensor.distal:6:31: error: cannot distribute: 'Grd' is neither a machine nor a tensor; did you mean 'Grid'?
   6 |   distribute({i}, {io}, {ii}, Grd)
     |                               ^~~
