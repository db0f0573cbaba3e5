# run: help frobnicate
# status: 2
--- program
tensor a: f64
--- stderr
distal: error: no help about 'frobnicate'
distal: note: 'distal help' lists what there is help about
