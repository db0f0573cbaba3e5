# Rounds are told, also of a condition that is never met.
# run: run {file}
--- program
tensor s: f64
tensor t: f64
s = 1
t = 1
repeat 10 { s = 0.5 * t; t = 0.5 * s } until s < 0.01
repeat 4 { s += 1 } until s < 0
repeat 3 { repeat 2 { t += 1 } until -t < -4 }
repeat 0 { t = 0 } until t < 1
--- stdout
s = 4.0078125
t = 5.00390625
--- stderr
repeat 10 until s < 0.01: 4 rounds
repeat 4 until s < 0: 4 rounds, and the condition does not hold
repeat 2 until -t < -4: 5 rounds in 3 repetitions, 1 of which ended without the condition
repeat 0 until t < 1: 0 rounds
