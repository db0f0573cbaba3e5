# Operands in disk, the result in memory: loops over tiles, as the machine of the program has four processors.
# run: schedule {file} --memory-limit 600K
--- program
machine M = grid(4)
tensor A(300, 200): f64
tensor B(300, 400): f64
tensor C(400, 200): f64
place A(x, y) -> M(x)
place B(x, y) -> M(x) in disk
place C(x, y) -> M(y) in disk
A(i, j) = B(i, k) * C(k, j)
--- stdout
# disk.distal on 4 ranks: 958 us, at most 400000 B of memory in a rank
#
# A(i, j) = B(i, k) * C(k, j)
#     time     moved  messages      disk    memory  computed on           data moves
#   958 us  480000 B         6  400000 B  400000 B  grid(4) over i        C shifted in 4 steps of j; tiles of 200 of k
#   990 us  480000 B         6  400000 B  560000 B  grid(4) over i        C replicated; tiles of 200 of k
#  1.03 ms  480000 B        17  400000 B  550000 B  grid(2, 2) over i, k  C replicated; A accumulated; tiles of 50 of k
#  1.06 ms  660000 B        19  400000 B  606400 B  grid(4) over k        A accumulated; tiles of 43 of i
#   1.1 ms  620000 B        17  400000 B  600800 B  grid(2, 2) over j, k  B replicated; A accumulated; tiles of 43 of i
#  2.01 ms  660000 B        15  720000 B  568000 B  grid(4) over k        C copied in disk first; A accumulated; tiles of 60 of i
#  2.05 ms  620000 B        13  720000 B  560000 B  grid(2, 2) over j, k  C copied in disk first; B replicated; A accumulated; tiles of 50 of i
#  2.43 ms  480000 B         6  880000 B  600000 B  grid(4) over i        B copied in disk first; C replicated; tiles of 200 of k

machine M = grid(4)
tensor A(300, 200): f64
tensor B(300, 400): f64
tensor C(400, 200): f64
place A(x0, x1) -> M(x0)
place B(x0, x1) -> M(x0) in disk
place C(x0, x1) -> M(x1) in disk

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i}, {io}, {ii}, M)
  divide(j, jo, ji, 4)
  split(k, kt, ki, 200)
  reorder({kt, jo, ii, ji, ki})
  rotate(jo, {io}, jos)
  communicate(B, kt)
  communicate(C, jos)
}
