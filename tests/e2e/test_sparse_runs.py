#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs with sparse tensors: the first rank has them and computes, whatever the number of ranks; dense operands and
results come from and go to where they are placed; what cannot be had is one diagnostic on all ranks.

Prints `ok NAME` or `FAIL NAME: why` for each case. A name on the command line runs the cases that contain it."""
import json
import sys

import numpy

from _common import check, distal, functions_named_test, run_cases, stay

MATRIX = "param n = 40; param m = 30; tensor B(n, m): f64, {format}; tensor x(m): f64; tensor y(n): f64; "
PRODUCT = "y(i) = B(i, j) * x(j)"
PLACED = "machine M = grid({ranks}); place x(j) -> M(j); place y(i) -> M(i); "


def draw(folder, density=0.2):
    """A matrix with empty rows and columns, and a vector, in files and as arrays."""
    generator = numpy.random.default_rng(7)
    matrix = generator.random((40, 30)) * (generator.random((40, 30)) < density)
    matrix[5:9] = matrix[:, 3] = 0
    vector = generator.random(30)
    numpy.save(f"{folder}/B.npy", matrix)
    numpy.save(f"{folder}/x.npy", vector)
    return matrix, vector


def run_product(folder, text, ranks, *options):
    return distal(["run", "-e", text, "--ranks", str(ranks), "--in", f"B={folder}/B.npy", "--in",
                   f"x={folder}/x.npy", "--check", "--out", f"y={folder}/y.npy", *options])


def close(folder, expected):
    found = numpy.load(f"{folder}/y.npy")
    check(numpy.allclose(found, expected, rtol=1e-13, atol=0), f"{found} is not {expected}")


def test_amortized_requests(folder):
    """Rank 0 lacks one element of x, and rank 1 none, of 20 each: a request of 4 numbers saves 39 elements."""
    matrix = numpy.zeros((40, 40))
    matrix[0, 39] = matrix[30, 20] = 1
    numpy.save(f"{folder}/B.npy", matrix)
    text = "param n = 40; machine M = grid(2); tensor B(n, n): f64, csr; tensor x(n): f64; tensor y(n): f64; " \
        "place B(i, j) -> M(i); place x(j) -> M(j); place y(i) -> M(i); " + PRODUCT
    said = distal(["plan", "-v", "-e", text, "--in", f"B={folder}/B.npy"]).stderr
    line = "x: requests of 32 B, once, save 312 B of the footprint in each execution: amortized after 1 execution\n"
    check(line in said, f"'{said}' does not have '{line}'")


def test_estimated_entries(folder):
    """What plan estimates of the entries of results, and what runs find: products of graphs whose degrees are far from
    even, with walks from all entries (the small ones) and from some, sums, and operands in other orders."""
    tensors = "param n = 4096; param m = 3000; tensor B(n, n): f64, {b}; tensor C(n, n): f64, {c}; tensor A(n, n): f64, {a}; " \
        "tensor T(n, n, m): f64, csf; tensor R(n, m): f64, csr; tensor S(n, n): f64, dcsr; "
    sources = {"B": "rmat:1:12:40000", "C": "rmat:2:12:30000", "T": "sparse:3:50000"}
    formats = [("csr", "csr", "csr"), ("csc", "csc", "coo"), ("coo", "csc", "csr"), ("dcsr", "coo", "csc")]
    statements = [("A", "A(i, j) = B(i, k) * C(k, j)"), ("A", "A(i, j) = B(i, j) + C(i, j)"), ("A", "A(i, j) = B(i, j) * C(j, i)"),
                  ("A", "A(i, j) = B(k, i) * C(k, j) + B(i, j)"), ("R", "R(i, l) = B(i, j) * T(i, j, l)"),
                  ("S", "S(i, j) = 2 * T(i, j, l) * C(j, i)"), ("S", "S(i, j) = sum({l}, T(i, j, l) + C(i, j))")]
    for number, (result, statement) in enumerate(statements):
        b, c, a = formats[number % len(formats)]
        given = [word for name, source in sources.items() if f"{name}(" in statement for word in ("--in", f"{name}={source}")]
        program = ["-e", tensors.format(a=a, b=b, c=c) + statement, *given, "--stats=json"]
        estimate = json.loads(distal(["plan", *program]).stdout)["statements"][0]["tensors"][result]["stored_estimate"]
        found = sum(json.loads(distal(["run", "-q", *program]).stdout)["statements"][0]["tensors"][result]["stored"])
        check(abs(estimate - found) <= 0.1 * found, f"{statement}: {estimate} entries are estimated, and {found} found")
    # Where a point is an entry and walks are from each entry, nothing is estimated.
    for statement, *given in (("A(i, j) = B(j, i)", "B=rmat:1:12:500"), ("A(i, j) = B(i, j) * C(j, i)", "B=sparse:1:0", "C=rmat:2:12:300")):
        program = ["-e", tensors.format(a="coo", b="csr", c="csr") + statement, "-p", "n=4100", "--stats=json"]
        program += [word for source in given for word in ("--in", source)]
        done = json.loads(distal(["plan", *program]).stdout)["statements"][0]["tensors"]["A"]
        found = sum(json.loads(distal(["run", "-q", *program]).stdout)["statements"][0]["tensors"]["A"]["stored"])
        check(done.get("stored_estimate", sum(done["stored"] or [-1])) == found, f"{statement}: {done}, and {found} found")
    # Sums of more terms than are sampled have no estimate.
    many = [f"B{number}" for number in range(120)]
    program = "param n = 20; tensor A(n, n): f64, csr; " + "".join(f"tensor {name}(n, n): f64, csr; " for name in many) + \
        "A(i, j) = " + " + ".join(f"{name}(i, j)" for name in many)
    given = [word for name in many for word in ("--in", f"{name}=sparse:1:9")]
    done = json.loads(distal(["plan", "-e", program, *given, "--stats=json"]).stdout)
    check("stored_estimate" not in done["statements"][0]["tensors"]["A"], f"{done}")
    unknown = json.loads(distal(["plan", "-e", tensors.format(a="csr", b="csr", c="csr") + statements[0][1], "--stats=json"]).stdout)
    check("stored_estimate" not in unknown["statements"][0]["tensors"]["A"], f"{unknown}")


def test_product(folder):
    matrix, vector = draw(folder)
    for ranks in (1, 2, 3, 4):
        done = run_product(folder, MATRIX.format(format="csr") + PRODUCT, ranks)
        check("check y" in done.stderr and done.stderr.rstrip().endswith("ok"), done.stderr)
        close(folder, matrix @ vector)


def test_rows_in_blocks(folder):
    """60000 entries on each rank: rows that need nothing of others are computed in 3 blocks."""
    text = "param n = 40000; machine M = grid(2); tensor B(n, n): f64, csr; tensor x(n): f64; tensor y(n): f64; " \
        "place B(i, j) -> M(i); place x(j) -> M(j); place y(i) -> M(i); " + PRODUCT
    distal(["run", "-e", text, "--in", "B=stencil:3", "--check", "-q"])


def test_nothing_stored(folder):
    draw(folder, density=0)
    for ranks in (1, 3):
        run_product(folder, MATRIX.format(format="dcsr") + PRODUCT, ranks)
        close(folder, numpy.zeros(40))


def test_empty_sums(folder):
    """Results that had other values are zero, also where the kernel would set them to zero, or store them, itself."""
    places = "place y(i) -> M(i); place B(i, k) -> M(i); place x(k) -> M(k); "
    statements = {"tensor y(5): f64; tensor z(5): f64; tensor B(5, e): f64, csr; tensor x(e): f64; PLACES"
                  "y(i) = z(i); y(i) = B(i, k) * x(k)": places,
                  "tensor y(5, 3): f64; tensor z(5, 3): f64; tensor B(5, e): f64, csr; tensor x(e, 3): f64; PLACES"
                  "y(i, l) = z(i, l); y(i, l) = B(i, k) * x(k, l)": "",
                  "tensor y(3, 5, 2): f64; tensor z(3, 5, 2): f64; tensor B(5, 3, e): f64; tensor x(e, 2): f64; PLACES"
                  "y(i, j, l) = z(i, j, l); y(i, j, l) = B(j, i, k) * x(k, l)": ""}
    for text, placed in statements.items():
        for ranks in (1, 3):
            distal(["run", "-e", "param e = 0, g = 3; machine M = grid(g); " + text.replace("PLACES", placed), "-n",
                    str(ranks), "--in", "z=ones", "--out", f"y={folder}/y.npy", "--check", "-q"])
            check(not numpy.load(f"{folder}/y.npy").any(), f"'{text}' on {ranks} ranks is not zero")


def test_entries_of_empty_sums(folder):
    """Entries of an assembled result are those of sparse operands, also where a sum over other variables has no terms,
    whatever loop it is: of steps, the offset of a rotation, both, rotated, divided, collapsed or distributed,
    also in parts of different lengths."""
    machine = "machine M = grid(p); place C(x, y) -> M(balanced(x));"
    text = "param n = {terms}, p = {ranks}; tensor A(4, 5): f64, csc; tensor B(4, 5): f64, csr; " \
        "tensor C(n, 5): f64; {machine} A(i, j) = B(i, j) * C(l, j); schedule A {{ {schedule} }}"
    schedules = ("reorder({l, i, j}); communicate(C, l)",
                 "reorder({l, i, j}); communicate(B, l)",
                 "reorder({l, i, j}); communicate({A, B}, l)",
                 "reorder({l, i, j}); rotate(i, {l}, is); communicate(B, is)",
                 "reorder({i, l, j}); collapse(i, l, il)",
                 "distribute(l); reorder({l, i, j}); rotate(i, {l}, is)",
                 "reorder({l, i, j}); rotate(i, {l}, is); communicate(C, l)",
                 "reorder({l, i, j}); rotate(i, {l}, is)",
                 "reorder({i, l, j}); rotate(j, {l, i}, js)",
                 "rotate(l, {j}, ls); rotate(ls, {i}, lss); reorder({i, lss, j})",
                 "split(l, lo, li, 2); reorder({lo, i, li, j}); rotate(i, {lo}, is); communicate(C, lo)")
    distributed = ("distribute({i}, {io}, {ii}, M); reorder({l, ii, j}); rotate(ii, {l}, is)",
                   "distribute({i}, {io}, {ii}, M); reorder({l, ii, j}); communicate({A, B}, l)",
                   "distribute({l}, {lo}, {li}, M); reorder({lo, li, i, j}); rotate(i, {lo}, is); communicate(B, is)",
                   "distribute({l}, {lo}, {li}, M); reorder({lo, li, i, j}); rotate(i, {li}, is)",
                   "distribute({l}, {lo}, {li}, C); reorder({lo, li, i, j}); rotate(i, {li}, is)",
                   "distribute({l}, {lo}, {li}, C); reorder({lo, li, i, j}); communicate({A, B}, li)",
                   "distribute({l}, {lo}, {li}, C); reorder({lo, i, li, j}); collapse(i, li, il)")
    for terms in (0, 3):
        for number, schedule in enumerate(schedules + distributed):
            ranks = 1 if number < len(schedules) else 3
            distal(["run", "-e", text.format(terms=terms, ranks=ranks, schedule=schedule,
                                             machine=machine if ranks > 1 else ""), "-n", str(ranks),
                    "--in", "B=sparse:1:9", "--out", f"A={folder}/A.mtx", "--check", "-q"])
            with open(f"{folder}/A.mtx", encoding="utf-8") as file:
                size = file.readlines()[1]
            check(size == "4 5 6\n", f"'{schedule}' with {terms} terms has another number of entries: {size}")


def test_updates_by_workspaces(folder):
    """An update of a dense tensor in place, of which a term has no sum any more, but entries, once it is precomputed."""
    text = "machine M = grid({ranks}); tensor A(6): f64; tensor B(6, 3): f64; tensor d(6): f64; tensor E(6, 4): f64, csr; " \
        "tensor w(6): f64, {{compressed}}; tensor e(6, 4): f64; place A(x) -> M(x); place B(x, y) -> M(x); A(i) = {rhs} " \
        "- A(i) + B(i, m); schedule A {{ precompute({what}, {{i}}, {{i}}, W{levels}); distribute({{i}}, {{io}}, {{ii}}, M) }}"
    statements = (("d(i) * E(i, l)", "E(i, l)", ", {compressed}", "E"), ("w(i) * e(i, l)", "e(i, l)", "", "w"))
    for rhs, what, levels, sparse in statements:
        for ranks in (1, 2):
            distal(["run", "-e", text.format(ranks=ranks, rhs=rhs, what=what, levels=levels), "-n", str(ranks), "--in",
                    f"{sparse}=sparse:3:4", "--check", "-q"])


def test_sum_as_index(folder):
    """A loop iterates over entries at the sum of its variable and one of a loop around it: all 2^40 values would not end."""
    n, weights, stored = 1 << 40, (2, 3, 5), {0: 7, 1: 11, 500: 13, (1 << 40) + 1: 17}
    with open(f"{folder}/C.tns", "w", encoding="utf-8") as file:
        file.writelines(f"{coordinate + 1} {value}\n" for coordinate, value in stored.items())
    numpy.save(f"{folder}/w.npy", numpy.array(weights, "f8"))
    expected = {}
    for coordinate, value in stored.items():
        for j, weight in enumerate(weights):
            if 0 <= coordinate - j < n:
                expected[coordinate - j] = expected.get(coordinate - j, 0) + weight * value
    text = f"param n = {n}; tensor A(n): f64, coo; tensor w(3): f64; tensor C(n + 2): f64, coo; " \
        "A(i) = w(j) * C(i + j); schedule A { reorder({j, i}) }"
    distal(["run", "-e", text, "-n", "1", "--in", f"C={folder}/C.tns", "--in", f"w={folder}/w.npy", "--out",
            f"A={folder}/A.tns", "-q"])
    with open(f"{folder}/A.tns", encoding="utf-8") as file:
        found = {int(c) - 1: float(v) for c, v in (line.split() for line in file if not line.startswith("#"))}
    check(found == expected, f"{found} is not {expected}")


def test_placed_operands(folder):
    """They are brought to the first rank, and the result from there."""
    matrix, vector = draw(folder)
    for ranks in (2, 3, 4):
        run_product(folder, MATRIX.format(format="csr") + PLACED.format(ranks=ranks) + PRODUCT, ranks)
        close(folder, matrix @ vector)


def test_statements_in_sequence(folder):
    matrix, vector = draw(folder)
    text = MATRIX.format(format="csc") + "tensor z(m): f64; z(j) = B(i, j) * y(i); "
    text = text.replace("z(j) = ", PRODUCT + "; z(j) = ")
    for ranks in (1, 4):
        run_product(folder, text, ranks, "--out", f"z={folder}/z.npy", "--repeat", "3")
        close(folder, matrix @ vector)
        found = numpy.load(f"{folder}/z.npy")
        check(numpy.allclose(found, matrix.T @ (matrix @ vector), rtol=1e-13, atol=0), str(found))


RESULTS = MATRIX + """tensor C(m, n): f64, dcsr; tensor A(n, m): f64, csc; tensor D(n, n): f64, {dense, compressed}
tensor E(n, m): f64, {format}; tensor F(n, m): f64, coo; tensor G(n, m): f64
A(i, j) = 2 * B(i, j)
D(i, j) = A(i, k) * C(k, j)
E(i, j) = B(i, j) * 3
E(i, j) += A(i, j) + C(j, i)
F(i, j) = E(i, j) - B(i, j)
G(i, j) = F(i, j)
F(i, j) = G(i, j) * B(i, j)
"""


def test_results(folder):
    """With the structure of an operand, assembled, added to, assigned twice, and operands of what follows."""
    matrix, _ = draw(folder)
    generator = numpy.random.default_rng(8)
    other = generator.random((30, 40)) * (generator.random((30, 40)) < 0.1)
    numpy.save(f"{folder}/C.npy", other)
    total = 5 * matrix + other.T
    expected = {"D": 2 * matrix @ other, "E": total, "G": total - matrix, "F": (total - matrix) * matrix}
    for ranks, kind in ((1, "csr"), (2, "csr"), (4, "dcsr")):
        done = distal(["run", "-e", RESULTS.replace("{format}", kind), "--ranks", str(ranks), "--check", "--repeat", "3",
                       *(word for name in "BC" for word in ("--in", f"{name}={folder}/{name}.npy")),
                       *(word for name in expected for word in ("--out", f"{name}={folder}/{name}.npy"))])
        check(done.stderr.count("ok\n") == 7, done.stderr)
        for name, values in expected.items():
            found = numpy.load(f"{folder}/{name}.npy")
            check(numpy.allclose(found, values, rtol=1e-13, atol=0), f"{name}: {found} is not {values}")


def test_parts_that_do_not_follow_each_other(folder):
    """Of copies of equal parts of the entries, along rows of 3 processors, the second of 3 ranks has the last part and
    the first one."""
    matrix, vector = draw(folder)
    for balance in ("fuse(i, j)", "i"):
        text = "machine M = grid(2, 3); place B(i, j) -> M(*, ~" + balance + "); "
        for ranks in (1, 2, 3, 6):
            run_product(folder, MATRIX.format(format="csr") + text + PRODUCT, ranks)
            close(folder, matrix @ vector)
    text = "machine M = grid(2, 3); param n = 40; param m = 30; tensor B(n, m): f64, dcsr; tensor C(m, 4): f64; " \
        "tensor y(n, 4): f64; place B(i, j) -> M(*, j); y(i, k) = B(i, j) * C(j, k); schedule y { reorder({k, i, j}); " \
        "collapse(i, j, f); pos(f, p, B(i, j)); divide(k, ko, ki, 2); divide(p, po, pi, 3); " \
        "reorder({ko, po, pi, ki}); distribute({ko, po}) }"
    for ranks in (1, 2, 3, 6):
        distal(["run", "-e", text, "--ranks", str(ranks), "--in", f"B={folder}/B.npy", "--check", "-q"])


def test_copies_of_threads(folder):
    """Rows that add to the same elements, of many entries and of few: the same from run to run, and in all threads."""
    text = "param n = 8192; tensor B(n, n): f64, csr; tensor x(n): f64; tensor y(n): f64; y(j) = B(i, j) * x(i)"
    written = set()
    for run in range(3):
        distal(["run", "-e", text, "--threads", "3", "--in", "B=rmat:1:13:60000", "--check", "-q", "--out",
                f"y={folder}/y.npy"])
        with open(f"{folder}/y.npy", "rb") as file:
            written.add(file.read())
    check(len(written) == 1, "sums differ from run to run")
    text = "param n = 3000; tensor T(n, 40, 30): f64, csf; tensor A(30, 9): f64; tensor C(n, 9): f64; " \
        "tensor D(40, 9): f64; A(k, l) = T(i, j, k) * C(i, l) * D(j, l)"
    distal(["run", "-e", text, "--threads", "3", "--in", "T=sparse:1:50000", "--check", "-q"])


LONG_ROWS = """param n = 40, m = 120000
tensor B(n, m): f64, csr
tensor T(n, m, 20): f64, csf
tensor x(m): f64; tensor y(n): f64; tensor z(m): f64
tensor C(m, 5): f64; tensor D(n, 5): f64; tensor G(20, 5): f64
tensor A(n, 5): f64; tensor E(n, m): f64, csr; tensor P(n, 5): f64; tensor Q(20, 5): f64; tensor S(n, m): f64, dcsr
y(i) = B(i, j) * x(j)
z(j) = B(i, j) * y(i)
A(i, k) = B(i, j) * C(j, k)
E(i, j) = B(i, j) * D(i, k) * C(j, k)
P(i, l) = T(i, j, k) * C(j, l) * G(k, l)
Q(k, l) = T(i, j, k) * D(i, l) * C(j, l)
S(i, j) = T(i, j, k) * x(j)
"""


def test_long_rows(folder):
    """Threads share the entries of a row that has nearly all: the same from run to run."""
    generator = numpy.random.default_rng(9)
    columns = [generator.integers(120000, size=3) if row != 17 else numpy.arange(120000) for row in range(40)]
    lines = [f"{row + 1} {column + 1}" for row in range(40) for column in set(columns[row])]
    with open(f"{folder}/B.mtx", "w", encoding="ascii") as file:
        file.write(f"%%MatrixMarket matrix coordinate pattern general\n40 120000 {len(lines)}\n" + "\n".join(lines) + "\n")
    with open(f"{folder}/T.tns", "w", encoding="ascii") as file:
        file.writelines(f"{line} {k} {0.5 + k}\n" for e, line in enumerate(lines) for k in (1 + e % 7, 9 + e % 11))
    written = {name: set() for name in "yzAPQ"}
    for threads in (2, 3, 3):
        distal(["run", "-e", LONG_ROWS, "--threads", str(threads), "--in", f"B={folder}/B.mtx", "--in",
                f"T={folder}/T.tns", "--check", "-q",
                *(word for name in written for word in ("--out", f"{name}={folder}/{name}.npy"))])
        for name, results in written.items():
            with open(f"{folder}/{name}.npy", "rb") as file:
                results.add(file.read())
    check(len(written["y"]) == len(written["A"]) == 1, "sums of rows differ with the number of threads")
    check(all(len(results) <= 2 for results in written.values()), "sums differ from run to run")


def test_converted(folder):
    """Operands whose storage order does not fit the loops are converted; a loop over all elements of the large
    matrices would not end in time."""
    generator = numpy.random.default_rng(3)
    B, C = (generator.random((40, 40)) * (generator.random((40, 40)) < 0.1) for _ in range(2))
    numpy.save(f"{folder}/B.npy", B)
    numpy.save(f"{folder}/C.npy", C)
    tensors = ("param n = 40; tensor B(n, n): f64, {b}; tensor C(n, n): f64, {c}; tensor y(n, n): f64{a}; "
               "y(i, j) = {right}")
    inputs = ["--in", f"B={folder}/B.npy", "--in", f"C={folder}/C.npy", "--out", f"y={folder}/y.npy", "--repeat", "2"]
    for right, expected in (("B(i, j) + C(i, j)", B + C), ("B(j, i) - C(i, j)", B.T - C),
                            ("B(i, j) + C(j, i) * 2 + C(i, j)", B + 2 * C.T + C)):
        for b, c, a in (("csr", "csc", ""), ("csr", "csc", ", csr"), ("coo", "csr", ", csc"), ("dcsr", "csc", ", coo")):
            for ranks in (1, 3):
                distal(["run", "-e", tensors.format(b=b, c=c, a=a, right=right), "--ranks", str(ranks), *inputs])
                close(folder, expected)
    large = "param n = 100000; " + tensors[len("param n = 40; "):].format(b="csr", c="csc", a=", csr",
                                                                        right="B(i, j) + C(i, j)")
    run = ["run", "-e", large, "--ranks", "2", "--in", "B=sparse:1:100000", "--in", "C=sparse:2:100000"]
    distal(run)


def refused(arguments, *messages, status=1):
    done = distal(arguments, status=status)
    check(done.stderr.count("error:") == 1 and any(message in done.stderr for message in messages),
          f"none of {messages} is in {done.stderr!r}")


def test_rounds(folder):
    """Where little memory is left, entries go to their homes in rounds, and what they are stays the same."""
    text = "machine M = grid(3); tensor B(1000, 1000): f64, csr; tensor y(1000): f64; place B(i, j) -> M(i); " \
        "place y(i) -> M(i); y(i) = B(i, j)"
    for options in (["--check"], ["--memory-limit", "600K"]):
        distal(["run", "-e", text, "--ranks", "3", "--in", "B=sparse:1:20000", "--out", f"y={folder}/y.npy", *options])
        found = numpy.load(f"{folder}/y.npy")
        check(options == ["--check"] or (found == whole).all(), "rounds have other entries")
        whole = found


def test_check_on_first_rank(folder):
    """Only the first rank evaluates, so that the last one, which has 24 MB of x and of y at home, takes little beside."""
    text = "param n = 3000000; machine M = grid(3); tensor B(9, n): f64, csr; tensor C(n, 9): f64, dcsr; tensor x(n): f64; " \
        "tensor z(9): f64; tensor y(n): f64; place x(j) -> M(2); place y(j) -> M(2); place C(j, i) -> M(2); " \
        "z(i) = B(i, j) * x(j); y(j) = C(j, i) * z(i)"
    inputs = ["--in", "B=sparse:1:1000", "--in", "C=sparse:2:1000", "--in", "x=random:3"]
    done = distal(["run", "-e", text, *inputs, "--check", "--memory-limit", "60M", "--out", f"y={folder}/y.npy"])
    check(done.stderr.count("ok") == 2, done.stderr)


def test_refused(folder):
    """One diagnostic, however many ranks there are."""
    draw(folder)
    program = MATRIX.format(format="csr") + PRODUCT
    for ranks in ("1", "3"):
        run = ["run", "-e", program, "--ranks", ranks]
        refused([*run, "--in", f"B={folder}/none.npy"], "No such file or directory")
        refused([*run, "--in", f"B={folder}/B.npy", "-p", "m=31"], "its shape is (40, 30), that of B is (40, 31)")
        balanced = ["-e", "machine M = grid(3); " + program + "; place B(i, j) -> M(~i)", "--in", f"B={folder}/none.npy"]
        for command in ("run", "plan"):  # which read entries that balance something before they make the plan
            refused([command, *balanced, "--ranks", ranks], "No such file or directory")
        refused(["plan", "-e", program, "--in", f"B={folder}/none.npy"], "No such file or directory")
        refused([*run, "--in", "B=random:1:0.5", "-p", "n=1000000", "-p", "m=1000000"], "looks at every position, and")
        refused([*run, "--in", "B=const:1", "--memory-limit", "40K"], "tensor B cannot be stored on rank 0: ",
                "rank 0 has not enough memory to send and receive entries of tensor B")
        refused(["run", "-e", MATRIX.format(format="csr") + "tensor A(n, n): f64, csr; A(i, k) = B(i, j) * B(k, j)",
                 "--ranks", ranks, "--in", "B=const:1", "-p", "n=80", "-p", "m=10", "--memory-limit", "60K"],
                "for the entries of A", "tensor A cannot be stored on rank 0: ")  # while they are appended, or packed
        for file in ("A.mtx", "A.npy"):
            refused(["run", "-e", "param n = 1000; tensor A(n, n): f64, csr; tensor b(n): f64, {compressed}; "
                     "tensor c(n): f64, {compressed}; A(i, j) = b(i) * c(j)", "--ranks", ranks, "--memory-limit", "22M",
                     "--out", f"A={folder}/{file}"],
                    f"cannot write '{folder}/{file}': rank 0 has not enough memory to list 1000000 elements of tensor A, "
                    "which takes 24000000 bytes")
        refused(["run", "-e", "param n = 10; tensor B(n, n, n): f64, csf; tensor A(n, n, n): f64; "
                 "A(i, j, k) = B(i, j, k) + B(j, k, i) + B(k, i, j) + B(j, i, k)", "--ranks", ranks, "--in", "B=const:1",
                 "--memory-limit", "74K"], "tensor B cannot be converted on rank 0: ")  # the last one of three copies
    refused(["run", "-e", "param n = 1000, m = 4000000; tensor B(n, m): f64, csr; tensor x(n): f64; tensor y(m): f64; "
             "y(j) = B(i, j) * x(i)", "--in", "B=sparse:1:1000", "--threads", "3", "--memory-limit", "70M"],
            "with --threads 1, no rank would need more than 30.5 MiB")


if __name__ == "__main__":
    stay()
    sys.exit(run_cases(functions_named_test("sparse_runs", globals())))
