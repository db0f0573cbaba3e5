# New loops and machines have names that nothing else has.
# run: schedule {file} -n 3
--- program
param io = 300, ii2 = 5
tensor M(io, io): f64
tensor M2(io, io): f64
tensor M3(io, io): f64
M(i, ii) = M2(i, ko) * M3(ko, ii)
--- stdout
# names.distal on 3 ranks: 137 us, at most 1.7 MiB of memory in a rank
#
# M(i, ii) = M2(i, ko) * M3(ko, ii)
#    time     moved  messages   memory  computed on      data moves
#  137 us  360000 B         1  1.7 MiB  grid(2) over i   at once
#  137 us  360000 B         1  1.7 MiB  -                no schedule
#  137 us  360000 B         1  1.7 MiB  grid(2) over ii  at once
#  140 us  360000 B         1  1.7 MiB  grid(2) over i   M3 shifted in 2 steps of ko
#  140 us  360000 B         1  1.7 MiB  grid(2) over ii  M2 shifted in 2 steps of i
#  142 us  480000 B         2  1.4 MiB  grid(3) over i   at once
#  142 us  480000 B         2  1.4 MiB  grid(3) over ii  at once
#  146 us  480000 B         2  1.1 MiB  grid(3) over i   M3 shifted in 3 steps of ko

param io = 300, ii2 = 5
machine M4 = grid(2)
machine M5 = grid(3)
tensor M(io, io): f64
tensor M2(io, io): f64
tensor M3(io, io): f64
place M(x0, x1) -> M4(x0)
place M2(x0, x1) -> M4(x0)
place M3(x0, x1) -> M4(x0)

M(i, ii) = M2(i, ko) * M3(ko, ii)

schedule M {
  distribute({i}, {io2}, {ii3}, M4)
}
