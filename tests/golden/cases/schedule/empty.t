# run: schedule {file} -n 3
--- program
tensor a: f64
--- stdout
# empty.distal on 3 ranks: 0 us, at most 0 B of memory in a rank

tensor a: f64
--- stderr
distal: note: the program has no statement
