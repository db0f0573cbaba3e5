# A scalar that no --out names is printed, and nothing else.
# run: run {file} --in b=iota --in c=const:0.5
--- program
tensor a: f64
tensor s: i32
tensor z: c64
tensor b(5): f64
tensor c(5): f64
tensor d(5): i32
a = b(i) * c(i)
s = d(i) / 3
z = 2.5 * c(i)
--- stdout
a = 5
s = 583
z = 6.25+0i
