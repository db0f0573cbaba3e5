# run: run {file} -q
--- program
tensor s: f64
repeat 4 { s = 1 } until s < 0
--- stdout
s = 1
