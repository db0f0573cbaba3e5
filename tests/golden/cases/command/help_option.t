# Help where options and a program are given as well.
# run: emit {file} -h --nonsense
--- program
tensor a: f64
a = 1
--- stdout
usage: distal emit FILE [options]

print the generated C
The same C serves all sizes and numbers of ranks.

options:
  -e TEXT                 the text of the program, instead of FILE
  -p, --param NAME=INT    set a param of the program; repeatable
  -n, --ranks N           number of processes (default: as many as the machine of the program needs)
  -o FILE                 write to FILE instead of standard output
  -v, --verbose           print more on standard error
  -q, --quiet             print only errors on standard error
  -h, --help              print help on the command
