# run:
# status: 2
--- program
--- stderr
distal: error: no command given
distal: note: commands: check, explain, emit, plan, schedule, run, calibrate, help
'distal help' lists commands and options
