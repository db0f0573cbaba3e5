# run: help rotate
--- program
tensor a: f64
--- stdout
rotate(t, {i, ...}, r)
  t = (r + i + ...) mod extent(t): the systolic shift
