# Help where options and a program are given as well.
# run: emit {file} -h --nonsense
--- program
tensor a: f64
a = 1
--- stdout
usage: distal emit FILE [options]

print the C that is generated
The same text serves all sizes and rank counts.

options:
  -e TEXT                 the program itself, in place of FILE
  -p, --param NAME=INT    set a param of the program; repeatable
  -n, --ranks N           number of processes (default: as many as the machine of the program needs)
  -o FILE                 write to FILE instead of standard output
  -v, --verbose           say more on standard error
  -q, --quiet             say nothing but errors on standard error
  -h, --help              help on the command
