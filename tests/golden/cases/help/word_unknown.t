# run: help plcae
# status: 2
--- program
tensor a: f64
--- stderr
distal: error: no help about 'plcae'; did you mean 'place'?
