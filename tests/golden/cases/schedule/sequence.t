# Where T lies suits both statements.
# run: schedule {file} -n 4
--- program
param n = 300
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
tensor D(n, n): f64
tensor T(n, n): f64
tensor s: f64
T(i, k) = B(i, j) * C(j, k)
A(i, l) = T(i, k) * D(k, l)
s = A(i, l) * T(i, l)
--- stdout
# sequence.distal on 4 ranks: 256 us, at most 1.5 MiB of memory in a rank
#
# T(i, k) = B(i, j) * C(j, k)
#    time     moved  messages   memory  computed on           data moves
#  125 us  360000 B         2  1.5 MiB  grid(2, 2) over i, k  B, C shifted in 2 steps of j
#  160 us  360000 B         2  1.5 MiB  -                     no schedule
#  160 us  360000 B         2  1.5 MiB  grid(2, 2) over i, k  at once
#  164 us  360000 B         3  1.4 MiB  grid(2, 2) over i, k  B in chunks of 75 of i
#  198 us  360000 B         2  1.2 MiB  grid(2, 2) over i, k  B, C in chunks of 150 of j
#  208 us  540000 B         3  1.9 MiB  grid(2, 2) over i, j  at once
#  210 us  540000 B         3  1.4 MiB  grid(2, 2) over i, j  T, C in chunks of 150 of k
#  212 us  540000 B         4  1.5 MiB  grid(2, 2) over i, j  T in chunks of 75 of i
#
# A(i, l) = T(i, k) * D(k, l)
#    time     moved  messages   memory  computed on           data moves
#  125 us  360000 B         2  1.5 MiB  grid(2, 2) over i, l  T, D shifted in 2 steps of k
#  160 us  360000 B         2  1.5 MiB  -                     no schedule
#  160 us  360000 B         2  1.5 MiB  grid(2, 2) over i, l  at once
#  164 us  360000 B         3  1.4 MiB  grid(2, 2) over i, l  T in chunks of 75 of i
#  198 us  360000 B         2  1.2 MiB  grid(2, 2) over i, l  T, D in chunks of 150 of k
#  208 us  540000 B         3  1.9 MiB  grid(2, 2) over i, k  at once
#  210 us  540000 B         3  1.4 MiB  grid(2, 2) over i, k  A, D in chunks of 150 of l
#  212 us  540000 B         4  1.5 MiB  grid(2, 2) over i, k  A in chunks of 75 of i
#
# s = A(i, l) * T(i, l)
#    time  moved  messages    memory  computed on           data moves
#  6.6 us    8 B         1  900016 B  grid(2, 2) over i, l  at once
#  6.6 us    8 B         1  900016 B  -                     no schedule

param n = 300
machine M = grid(2, 2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
tensor D(n, n): f64
tensor T(n, n): f64
tensor s: f64
place A(x0, x1) -> M(x0, x1)
place B(x0, x1) -> M(x0, x1)
place C(x0, x1) -> M(x0, x1)
place D(x0, x1) -> M(x0, x1)
place T(x0, x1) -> M(x0, x1)

T(i, k) = B(i, j) * C(j, k)

schedule T {
  distribute({i, k}, {io, ko}, {ii, ki}, M)
  divide(j, jo, ji, 2)
  reorder({jo, ii, ki, ji})
  rotate(jo, {io, ko}, jos)
  communicate({B, C}, jos)
}

A(i, l) = T(i, k) * D(k, l)

schedule A {
  distribute({i, l}, {io, lo}, {ii, li}, M)
  divide(k, ko, ki, 2)
  reorder({ko, ii, li, ki})
  rotate(ko, {io, lo}, kos)
  communicate({T, D}, kos)
}

s = A(i, l) * T(i, l)

schedule s {
  distribute({i, l}, {io, lo}, {ii, li}, M)
}
