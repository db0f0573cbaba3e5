# Products of three factors are tried with and without workspaces.
# run: schedule {file} -n 4
--- program
tensor A(310, 70): f64
tensor B(310, 170, 23): f64
tensor C(170, 70): f64
tensor D(23, 70): f64
A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
--- stdout
# products.distal on 4 ranks: 317 us, at most 2.5 MiB of memory in a rank
#
# A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
#     time     moved  messages   memory  computed on           data moves
#   317 us       0 B         0  2.5 MiB  grid(4) over i        at once
#   422 us       0 B         0  3.3 MiB  grid(3) over i        at once
#   550 us   43400 B         1  2.7 MiB  grid(2, 2) over i, k  at once
#  1.11 ms       0 B         0  2.5 MiB  grid(4) over i        at once, all factors in one nest
#  1.13 ms   86800 B         1  2.5 MiB  grid(2, 2) over i, j  at once, all factors in one nest
#  1.17 ms   43400 B         1  2.7 MiB  grid(2, 2) over i, k  at once, all factors in one nest
#  1.18 ms  186480 B         2  2.5 MiB  grid(4) over j        at once, all factors in one nest
#  1.19 ms  130200 B         3  2.9 MiB  grid(4) over k        at once, all factors in one nest

machine M = grid(4)
tensor A(310, 70): f64
tensor B(310, 170, 23): f64
tensor C(170, 70): f64
tensor D(23, 70): f64
place A(x0, x1) -> M(x0)
place B(x0, x1, x2) -> M(x0)
place C(x0, x1) -> M(*)
place D(x0, x1) -> M(*)

A(i, l) = B(i, j, k) * C(j, l) * D(k, l)

schedule A {
  precompute(B(i, j, k) * C(j, l), {k, l}, {k, l}, W)
  distribute({i}, {io}, {ii}, M)
}
