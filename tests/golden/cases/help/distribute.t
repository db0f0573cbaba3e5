# run: help distribute
--- program
tensor a: f64
--- stdout
distribute({i, ...}, {io, ...}, {ii, ...}, M)
  iterations of i on different processors; with M, a machine, a level of it or a tensor, i is divided into io, distributed, and ii
