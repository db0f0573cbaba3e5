# A command that there is not.
# run: chek {file}
# status: 2
--- program
machine M = grid(2)
tensor A(4): f64
tensor B(4): f64
place A(x) -> M(x)
place B(x) -> M(x)
A(i) = B(i)
--- stderr
distal: error: unknown command 'chek'; did you mean 'check'?
distal: note: commands: check, explain, emit, plan, schedule, run, calibrate, help
'distal help' lists commands and options
