#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Results larger than the last-level cache, written with nontemporal stores: copies, transpositions, sums and a contraction, with
rows that begin at lines of the cache, rows that do not, and rows that are a multiple of half a page apart."""
import sys

from _common import distal, run_cases

# Of f64; the modes of results together have more than 4 million elements.
PROGRAM = """
param n = {rows}, m = {columns}, p = {ranks}
machine M = grid(p)
tensor A(n, m): f64
tensor B(n, m): f64
tensor C(m, n): f64
tensor D(n, m): f64
tensor E(n, m): f64
tensor F(46, 46, 46, 46): f64
tensor G(46, 46, 2): f64
tensor H(2, 46, 46): f64
tensor x(4200001): f64
tensor y(4200001): f64
place A(i, j) -> M(i)
place D(i, j) -> M(i)
place E(i, j) -> M(j)
place x(i) -> M(i)
A(i, j) = C(j, i)
D(i, j) = B(i, j) - C(j, i)
E(i, j) = 2 * B(i, j) + A(i, j)
F(a, b, c, d) = G(a, b, e) * H(e, c, d)
x(i) = 2 * y(i)
"""


def run_program(rows, columns, ranks):
    inputs = [word for number, name in enumerate("BCGHy") for word in ("--in", f"{name}=random:{number}")]
    distal(["run", "-", "-q", "--check", "-n", str(ranks), *inputs], text=PROGRAM.format(rows=rows, columns=columns, ranks=ranks))


def main():
    return run_cases([(f"large/{rows} x {columns} on {ranks}", lambda _, case=(rows, columns, ranks): run_program(*case))
                      for rows, columns, ranks in ((2111, 2048, 1), (2304, 2048, 1), (2111, 2003, 2))])


if __name__ == "__main__":
    sys.exit(main())
