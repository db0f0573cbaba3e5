# run: run {file} -n 3 --machine m.machine
# status: 2
--- program
tensor y(50): f64
tensor x(50): f64
y(i) = x(i)
--- stderr
distal: error: --machine is for predictions: give --auto as well, or use 'distal plan' or 'distal schedule'
