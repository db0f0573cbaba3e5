# run:
# status: 2
--- program
--- stderr
distal: error: no command given
distal: note: commands: check, explain, emit, plan, run, calibrate, help
'distal help' lists commands and options
