#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Indices that are sums of variables times integers, compared with NumPy: each statement on one and several ranks,
machines and placements, with extents that are odd, smaller than the grid, and 1, and with sparse operands.

Prints `ok NAME` or `FAIL NAME: why` for each case."""
import re
import sys

import numpy

from _common import check, distal, functions_named_test, once, run_cases, stay

# A statement, the extents of its tensors in n and m, and the same in NumPy, which changes the target A.
CASES = [
    ("A(i) = u(i - 1) - 2 * u(i) + u(i + 1)", "A(n) u(n)", "A[1:n-1] = u[:n-2] - 2 * u[1:n-1] + u[2:n]"),
    ("A(i) += u(i + 1)", "A(n) u(n)", "A[:n-1] += u[1:]"),
    ("A(i) = u(n - 1 - i)", "A(n) u(n)", "A[:] = u[::-1]"),
    ("A(i + 2) = u(i)", "A(n) u(n)", "A[2:] = u[:max(0, n - 2)]"),
    ("A(2 * i) = u(i)", "A(n) u(n)", "A[::2] = u[:len(A[::2])]"),
    ("A(i) = u(2 * i + 1)", "A(n) u(n)", "A[:n//2] = u[1::2]"),
    ("A(j) = B(0, j)", "A(m) B(n, m)", "A[:] = B[0]"),
    ("A(i) = B(i, m - 1)", "A(n) B(n, m)", "A[:] = B[:, m - 1]"),
    ("A(0, j) = u(j)", "A(n, m) u(m)", "A[0] = u"),
    ("A(i, i + 1) = u(i)", "A(n, n) u(n)", "A[range(n - 1), range(1, n)] = u[:n-1]"),
    ("A(i) = B(i, i + 1)", "A(n) B(n, n)", "A[:n-1] = numpy.diagonal(B, 1)"),
    ("A = B(i, 0) * B(0, i)", "A B(n, n)", "A[...] = (B[:, 0] * B[0]).sum()"),
    ("A(i) = u(i + k) * w(k)", "A(n) u(n) w(3)",
     "for k in range(min(3, n)): A[:n-k] += u[k:] * w[k]"),
    ("A(i) = u(2 * i + k) * w(k)", "A(n) u(n + n + 1) w(3)", "for k in range(3): A += u[k:k+2*n-1:2] * w[k]"),
    ("A(i, j) = B(i - 1, j) + B(i + 1, j) + B(i, j - 1) + B(i, j + 1) - 4 * B(i, j)", "A(n, m) B(n, m)",
     "A[1:-1, 1:-1] = B[:-2, 1:-1] + B[2:, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] - 4 * B[1:-1, 1:-1]"),
    ("A(i, j) = B(i + k, j + l) * C(k, l)", "A(n, m) B(n + 2, m + 1) C(3, 2)",
     "for k in range(3):\n for l in range(2): A += B[k:k+n, l:l+m] * C[k, l]"),
    ("A(f, i) = B(c, i + k) * C(f, c, k)", "A(2, n) B(3, n + 2) C(2, 3, 3)",
     "for k in range(3): A += C[:, :, k] @ B[:, k:k+n]"),
    ("A(i) = u(i) + B(i, j + 1) * w(j)", "A(n) u(n) B(n, m) w(m)", "A[:] = u + B[:, 1:] @ w[:m-1]"),
    ("A(i) = B(i, j) * u(j) * u(j + 2)", "A(n) B(n, m) u(m + 2)", "A[:] = B @ (u[:m] * u[2:])"),
    ("A(i) = u(i) for i in 1 : n - 1", "A(n) u(n)", "A[1:n-1] = u[1:n-1]"),
    ("A(i) += u(i + 1) for i in 1 : n - 1", "A(n) u(n)", "A[1:n-1] += u[2:n]"),
    ("A(i, j) = B(i, j) for i in 0 : m, j in m / 2 : n", "A(n + m, n) B(m, n + 3)", "A[:m, m//2:n] = B[:, m//2:n]"),
    ("A(i + n, j) = B(i, j + m) for i in 0 : m, j in 0 : n", "A(n + m, n) B(m, n + m)", "A[n:, :n] = B[:, m:]"),
    ("A(i + 1) = u(i + 2)", "A(n) u(n)", "A[:n-1] = u[1:]"),
    ("A(i) = u(i + k)", "A(n) u(m)", "A[:] = u.sum()"),
    ("A(i, i) = u(i)", "A(n, n) u(n)", "A[range(n), range(n)] = u"),
    ("A(i) = max({k}, u(2 * i + k)) for k in 0 : 2", "A(n) u(2*n)", "A[:] = u.reshape(n, 2).max(1)"),
    ("A(i) = u(i) + min({k}, u(i + k)) for k in -1 : 2", "A(n) u(n)",
     "A[:] = [u[i] + u[max(0, i-1):i+2].min() for i in range(n)]"),
    ("A(i) = prod({k}, B(i + 1, k + 2)) / sum({l}, u(i + l) * w(l))", "A(n) B(n, m) u(n) w(3)",
     "A[:n-1] = [B[i+1].prod() / (u[i:i+3] * w[:n-i]).sum() for i in range(n - 1)]"),
    ("A(i) = 2 * A(i) for i in 1 : n - 1", "A(n)", "A[1:n-1] *= 2"),
    ("A(i) = A(i) + u(i + 1) - u(i)", "A(n) u(n)", "A[:n-1] += u[1:] - u[:n-1]"),
    ("A(i + 1) = A(i + 1) * u(i)", "A(n) u(n)", "A[1:] *= u[:n-1]"),
    ("A(i, i) = A(i, i) * u(i) - A(i, i)", "A(n, n) u(n)", "A[range(n), range(n)] *= u - 1"),
    ("A(i, n - 1 - i) += u(i) * A(i, n - 1 - i)", "A(n, n) u(n)", "A[range(n), range(n - 1, -1, -1)] *= u + 1"),
    ("A(i) = min(A(i), u(i + 1)) + max({k}, u(i - k)) for k in 0 : 2", "A(n) u(n)",
     "A[:n-1] = [min(A[i], u[i+1]) + u[max(0, i-1):i+1].max() for i in range(n - 1)]"),
    ("A(i) max= u(i - 1)", "A(n) u(n)", "A[1:] = numpy.maximum(A[1:], u[:n-1])"),
    # Sums and products whose entries are merged.
    ("A(i) = w(i) + u(i + 1)", "A(n) u(n) w(n)", "A[:n-1] = w[:n-1] + u[1:]"),
    ("A(i) = u(i - 2) - w(i + 3)", "A(n + m) u(n) w(n + 9)", "A[2:n+2] = u - w[5:n+5]"),
    ("A(i) = u(i + m) + w(i) - u(i)", "A(n) u(n + m) w(n)", "A[:] = u[m:] + w - u[:n]"),
    ("A(i) = w(i) - u(i + 40) + u(i)", "A(n) u(n) w(n)", "pass"),
    ("A(i, j) = B(i - 1, j) + B(i + 1, j) - 2 * B(i, j)", "A(n, m) B(n, m)",
     "A[1:-1] = B[:-2] + B[2:] - 2 * B[1:-1]"),
    ("A(i, j) = B(i, j - 1) * C(i, j + 1) + C(i, j)", "A(n, m) B(n, m) C(n, m + 1)",
     "A[:, 1:] = B[:, :-1] * C[:, 2:] + C[:, 1:-1]"),
    ("A(j) = B(i + 1, j) + C(i, j + 2)", "A(m) B(n, m) C(n, m + 2)", "A[:] = (B[1:] + C[:n-1, 2:]).sum(0)"),
    ("A = u(i) * u(i + 1) + w(i + 2)", "A u(n) w(n + 2)", "A[...] = (u[:n-1] * u[1:] + w[2:n+1]).sum()"),
    ("A(i) = w(j) * u(i + j)", "A(n) u(n + m) w(m)", "for j in range(m): A += w[j] * u[j:n+j]"),
    ("A(f, i, j) = max({k, l}, B(i + k, j + l) * C(f, k))", "A(2, n, m) B(n + 1, m + 2) C(2, 2)",
     "A[...] = [[[(B[i:i+2] * C[f][:, None]).max() for j in range(m)] for i in range(n)] for f in range(2)]"),
]
PLACES = [
    ("", {}, 1),
    ("machine G = grid(3);", {1: "(x) -> G(x)", 2: "(x, y) -> G(x)", 3: "(x, y, z) -> G(*)"}, 3),
    ("machine G = grid(2, 2);", {1: "(x) -> G(x, *)", 2: "(x, y) -> G(x, y)", 3: "(x, y, z) -> G(0, x)"}, 4),
    ("machine G = grid(4);", {1: "(x) -> G(cyclic(x, 2))", 2: "(x, y) -> G(y)", 3: "(x, y, z) -> G(y)"}, 2),
    ("machine G = grid(12);", {1: "(x) -> G(x)", 2: "(x, y) -> G(x)", 3: "(x, y, z) -> G(x)"}, 12),
]
# Storage of operands, by order.
FORMATS = [{1: "{compressed}", 2: "csr"}, {2: "csc", 3: "csf"}, {1: "{bitmap}", 2: "coo"},
           {2: "{compressed, compressed}"}, {2: "{dense, bitmap}", 3: "{dense, compressed, compressed}"}]


def reads_target(statement):
    return "max=" in statement or "A(" in statement.partition("= ")[2]


# Updates of windows, and prod, max and min over windows, have no sparse operands.
def takes_sparse(statement):
    return not reads_target(statement) and not any(name in statement for name in ("prod", "max", "min"))


def with_sparse_result(statement, tensors, formats):
    """The formats with one of A, where A may be sparse: different variables index it, it is assigned, and all operands are
    sparse. A list of none or one."""
    orders = {name[0]: name.count(",") + ("(" in name) for name in tensors.replace(", ", ",").replace(" + ", "+").split(" ")}
    left = re.match(r"A\(([a-z](, [a-z])*)\) = ", statement)
    plain = left and len(set(left[1].split(", "))) == orders["A"]
    return [{**formats, "A": formats[orders["A"]]}] if plain and all(o in formats for o in orders.values()) else []


class Together:
    """Cases on the same machine with the same sizes, which are one program. The tensors of each have its number in their
    names."""

    def __init__(self, places, sizes):
        self.places, self.sizes, self.cases, self.results = places, sizes, [], once(self.run)

    def add(self, *case):
        """Returns a function that checks the case."""
        self.cases.append(case)
        return lambda folder, number=len(self.cases) - 1: self.check(number)

    def check(self, number):
        got, expected = self.results()[number]
        check(numpy.allclose(got, expected, rtol=1e-13, atol=1e-13), f"{got}, expected {expected}")

    def run(self, folder):
        """What is got and expected in each case."""
        machine, _, ranks = self.places
        program, options, expected = f"param n = {self.sizes[0]}, m = {self.sizes[1]}; {machine}\n", [], []
        for number, case in enumerate(self.cases):
            text, given, value = self.write(folder, number, *case)
            program += text
            options += [*given, "--out", f"A{number}={folder}/A{number}.npy"]
            expected.append(value)
        distal(["run", "-e", program, "-n", str(ranks), "--check", "-q", *options])
        return [(numpy.load(f"{folder}/A{number}.npy"), value) for number, value in enumerate(expected)]

    def write(self, folder, number, statement, tensors, code, formats):
        """The text of a case, the options for its inputs, and the value of A."""
        n, m = self.sizes
        placements = self.places[1]
        accumulates = "+=" in statement or reads_target(statement)
        generator = numpy.random.default_rng(3)
        arrays, text, given = {}, "", []
        for name, extents in [(word[0], word[1:]) for word in tensors.replace(", ", ",").replace(" + ", "+").split(" ")]:
            shape = eval(extents[:-1] + ",)", {"n": n, "m": m}) if extents else ()  # pylint: disable=eval-used
            arrays[name] = generator.random(shape)
            stored = formats.get(len(shape) if name != "A" else "A")
            if stored and name != "A":
                arrays[name] *= generator.random(shape) < 0.4
            text += f"tensor {name}{extents}: f64{', ' + stored if stored else ''};"
            if placements and shape:
                text += f"place {name}{placements[len(shape)]};"
            if name != "A" or accumulates:
                numpy.save(f"{folder}/{name}{number}.in.npy", arrays[name])
                given += ["--in", f"{name}{number}={folder}/{name}{number}.in.npy"]
        if not accumulates:
            arrays["A"][...] = 0
        exec(code, {**arrays, "n": n, "m": m, "numpy": numpy})  # pylint: disable=exec-used
        return re.sub(r"\b([ABCuw])\b", rf"\g<1>{number}", text + statement) + "\n", given, arrays["A"]


def test_long_diagonal_in_steps(folder):
    """More elements in a step than are planned one by one."""
    n = 1001
    array = numpy.random.default_rng(4).random((n, n))
    numpy.save(f"{folder}/B.npy", array)
    program = (f"machine G = grid(2, 2); tensor B({n}, {n}): f64; tensor A({n}): f64;"
               "place B(x, y) -> G(x, y); place A(x) -> G(x, *); A(i) = B(i, i + 1);"
               "schedule A { distribute({i}, {io}, {ii}, A); split(ii, is, ik, 300); communicate({A, B}, is) }")
    distal(["run", "-e", program, "-n", "4", "--in", f"B={folder}/B.npy", "--check", "-q", "--out",
            f"A={folder}/A.npy"])
    got = numpy.load(f"{folder}/A.npy")
    check((got[:-1] == numpy.diagonal(array, 1)).all() and got[-1] == 0, f"{got}")


def test_long_updated_diagonal_in_steps(folder):
    """The same of an update, which keeps what is around the diagonal, wherever it is at home."""
    n = 601
    array = numpy.random.default_rng(5).random((n, n))
    numpy.save(f"{folder}/A.npy", array)
    expected = array.copy()
    expected[range(n), range(n)] *= 2
    expected[range(n), range(n - 1, -1, -1)] *= 4
    for place in "M(0)", "M(*)", "M(x)", "M(y)", "":
        steps = "distribute({i}, {io}, {ii}, M); split(ii, is, ik, 150); communicate(A, is)"
        program = (f"machine M = grid(2); tensor A({n}, {n}): f64;" + (f"place A(x, y) -> {place};" if place else "") +
                   f"A(i, i) = 2 * A(i, i); schedule A {{ {steps} }};"
                   f"A(i, {n - 1} - i) = 4 * A(i, {n - 1} - i); schedule A {{ {steps} }}")
        distal(["run", "-e", program, "-n", "2", "--in", f"A={folder}/A.npy", "--check", "-q", "--out", f"A={folder}/B.npy"])
        check((numpy.load(f"{folder}/B.npy") == expected).all(), f"wrong where A is placed on {place or 'nothing'}")


def test_entries_where_indices_are_in_modes(folder):
    """A sparse result has no entry where no summand has all of its indices within their modes, though these are of
    dense tensors."""
    n = 7
    generator = numpy.random.default_rng(5)
    stored = generator.random((n, n)) * (generator.random((n, n)) < 0.5)
    numpy.save(f"{folder}/E.npy", stored)
    for ranks in (1, 2, 3):
        program = (f"machine M = grid({ranks}); tensor D({n}, {n}): f64, csr; tensor E({n}, {n}): f64, csr;"
                   f"tensor F({n}, 2): f64; tensor G(4, {n}): f64; place D(x, y) -> M(x); place E(x, y) -> M(x);"
                   "D(i, j) = E(i, j) * F(i, k) * G(k + j + 1, j)")
        distal(["run", "-e", program, "-n", str(ranks), "--in", f"E={folder}/E.npy", "--check", "-q", "--out",
                f"D={folder}/D.mtx"])
        with open(f"{folder}/D.mtx", encoding="ascii") as file:
            lines = [line.split() for line in file if not line.startswith("%")][1:]
        entries = {(int(row) - 1, int(column) - 1) for row, column, _ in lines}
        check(entries == {(i, j) for i, j in zip(*stored.nonzero()) if j + 1 < 4}, f"{sorted(entries)} on {ranks}")


def main():
    stay()
    cases = functions_named_test("indices", globals())
    together = {}
    for number, (statement, tensors, code) in enumerate(CASES):
        for turn, sizes in enumerate([(11, 7), (2, 5), (1, 1) if "n - 1" not in code and "n-1" not in code else (5, 2)]):
            at = (number + 2 * turn) % len(PLACES)
            places = PLACES[at]
            sparse = FORMATS[(number + turn) % 5]
            for formats in [{}, sparse, *with_sparse_result(statement, tensors, sparse)] if takes_sparse(statement) else [{}]:
                stored = "".join(f", {text}" for text in formats.values())
                cases.append((f"indices/{statement} on {places[2]}, n = {sizes[0]}, m = {sizes[1]}{stored}",
                              together.setdefault((at, sizes), Together(places, sizes)).add(statement, tensors, code, formats)))
    return run_cases(cases)


if __name__ == "__main__":
    sys.exit(main())
