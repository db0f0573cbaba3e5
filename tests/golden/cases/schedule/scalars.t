# Nothing to distribute.
# run: schedule {file} -n 3
--- program
tensor a: f64
tensor b: f64
tensor x(1): f64
a = 2 * b + x(i)
--- stdout
# scalars.distal on 3 ranks: 2.8 us, at most 40 B of memory in a rank
#
# a = 2 * b + x(i)
#    time  moved  messages  memory  computed on  data moves
#  2.8 us   16 B         2    40 B  -            no schedule

tensor a: f64
tensor b: f64
tensor x(1): f64

a = 2 * b + x(i)
