# run: help communicate
--- program
tensor a: f64
--- stdout
communicate({T, ...}, i)
  gather what each T needs under one iteration of i at its start
