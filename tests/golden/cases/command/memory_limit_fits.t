# Exactly as much as the limit.
# run: run {file} --memory-limit 8200
--- program
tensor B(1024): f64
tensor a: f64
a = B(i) - B(i)
--- stdout
a = 0
