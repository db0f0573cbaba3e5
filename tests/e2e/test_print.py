#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tensors as text: --print and --out T=- against what NumPy prints, and .csv files against what NumPy reads, of
tensors of every type, with drawn extents and numbers, on any number of ranks and under any placement.

Prints `ok NAME` or `FAIL NAME: why` for each case. A name on the command line runs the cases that contain it."""
import sys
from itertools import zip_longest

import numpy

from _common import DTYPE, check, distal, functions_named_test, run_cases

PLACEMENTS = {0: [""], 1: ["", "A(x) -> M(x)", "A(x) -> M(cyclic(x, 3))"],
              2: ["", "A(x, y) -> M(y)", "A(x, y) -> M(cyclic(x, 7))", "A(x, y) -> M(*)"],
              3: ["", "A(x, y, z) -> M(z)", "A(x, y, z) -> M(cyclic(y, 2))"]}


def program(kind, extents, placement, levels=""):
    names = "ijklmnopqrst"[:len(extents)]
    shape = f"({', '.join(map(str, extents))})" if len(extents) else ""
    access = f"({', '.join(names)})" if len(extents) else ""
    places = f"place {placement}; place B{placement[1:]}" if placement else ""
    return (f"param R = 1; machine M = grid(R); tensor A{shape}: {kind}{levels}; tensor B{shape}: {kind}{levels}; "
            f"{places}; A{access} = B{access}")


def run(kind, extents, placement, ranks, options, levels=""):
    return distal(["run", "-e", program(kind, extents, placement, levels), "-n", str(ranks), "-p", f"R={ranks}",
                   *options]).stdout


def drawn(random, kind, extents):
    """Numbers that are hard to print: of many magnitudes or of one, with few digits or many, some of them special."""
    size = int(numpy.prod(extents))
    if kind[0] == "i":
        most = 2 ** int(random.integers(1, 31))
        return random.integers(-most, most, size).astype(DTYPE[kind]).reshape(extents)

    def reals():
        values = random.random(size) * 10.0 ** random.integers(-6, 9) - (random.random() < 0.5)
        if random.random() < 0.3:
            values = values * 10.0 ** random.integers(-200 if "64" in kind and kind[0] == "f" else -20, 20, size)
        if random.random() < 0.5:
            values = numpy.round(values, int(random.integers(0, 4)))
        if random.random() < 0.3:
            where = random.random(size) < 0.2
            values[where] = random.choice([numpy.inf, -numpy.inf, numpy.nan, 0.0, -0.0], int(where.sum()))
        return values

    with numpy.errstate(over="ignore", invalid="ignore"):
        if kind[0] == "f":
            return reals().astype(DTYPE[kind]).reshape(extents)
        value = numpy.empty(size, DTYPE[kind])
        value.real, value.imag = reals(), reals()
        return value.reshape(extents)


def expected(name, array):
    text = numpy.array2string(array, prefix=f"{name} = ")
    if array.dtype.kind == "c":
        text = text.replace("j", "i")
    return f"{name} = {text}\n"


SHAPES = [(5,), (1,), (1000,), (1001,), (1500,), (3, 4), (1, 1), (12, 100), (40, 40), (2000, 2), (4, 5, 6), (1, 30, 40),
          (13, 11, 17), (2, 1, 600), (0,), (3, 0)]


def test_as_numpy(folder):
    random = numpy.random.default_rng(1)
    for number in range(60):
        kind = list(DTYPE)[number % 6]
        extents = SHAPES[number % len(SHAPES)] if number < 32 else SHAPES[int(random.integers(len(SHAPES)))]
        array = drawn(random, kind, extents)
        numpy.save(f"{folder}/B.npy", array)
        ranks = [1, 2, 1, 3][number % 4]
        placement = random.choice(PLACEMENTS[len(extents)])
        option = ["--out", "B=-"] if number % 2 else ["--print", "B"]
        text = run(kind, extents, placement, ranks, ["--in", f"B={folder}/B.npy", *option])
        want = expected("B", array)
        if "f4" in DTYPE[kind] or "c8" in DTYPE[kind]:  # NumPy leaves a column more where it rounds a float to ...0
            text, want = "".join(text.split()), "".join(want.split())
        for at, (line, right) in enumerate(zip_longest(text.splitlines(), want.splitlines()), 1):
            check(line == right, f"{kind} {extents} '{placement}' on {ranks}, line {at}: {line!r}, NumPy prints {right!r}")


def test_many_modes(folder):
    """Of a tensor of many modes fewer coordinates are shown: all of it is not 10^6 numbers."""
    text = run("f64", (3,) * 12, "", 2, ["--in", "B=iota", "--print", "B"])
    check(text.startswith("B = [[[[[[[[[[[[0.00000e+00 ... 2.00000e+00]"), f"it begins with {text[:60]}")
    check(text.count(".") < 20000 and text.endswith("5.31440e+05]]]]]]]]]]]]\n"), f"it ends with {text[-60:]}")


def test_scalars(folder):
    for kind, value, text in [("f64", "0.1", "0.1"), ("i32", "7", "7"), ("c128", "2", "2+0i")]:
        out = distal(["run", "-e", f"tensor a: {kind}; tensor b: {kind}; a = b", "--in", f"b=const:{value}", "--print",
                      "b", "--print", "a"]).stdout
        check(out == f"a = {text}\nb = {text}\n", f"{kind}: {out}")


def entries_text(name, coordinates, values, extents):
    """What is printed of entries that are sorted."""
    count = len(values)
    head = f"{name} = {count} {'entry' if count == 1 else 'entries'} of {' x '.join(map(str, extents))}\n"
    chosen = list(range(count)) if count <= 50 else list(range(25)) + list(range(count - 25, count))
    words = [f"({', '.join(str(int(c)) for c in coordinates[e])})" for e in chosen]
    width = max(map(len, words), default=0)
    lines = [f"  {word:{width}}  {values[e]}\n" for word, e in zip(words, chosen)]
    if count > 50:
        lines.insert(25, "  ...\n")
    return head + "".join(lines)


def test_entries(folder):
    random = numpy.random.default_rng(2)
    for count in (0, 1, 7, 50, 51, 400):
        for levels, order in [("csr", [0, 1]), ("csc", [1, 0]), ("coo", [0, 1])]:
            extents = (40, 37)
            places = numpy.sort(random.choice(extents[0] * extents[1], count, replace=False))
            coordinates = numpy.stack([places // extents[1], places % extents[1]], 1)
            values = random.integers(-50, 50, count)
            with open(f"{folder}/B.tns", "w", encoding="utf-8") as file:
                for e in random.permutation(count):
                    file.write(f"{coordinates[e][0] + 1} {coordinates[e][1] + 1} {values[e]}\n")
            sort = numpy.lexsort([coordinates[:, order[1]], coordinates[:, order[0]]])
            want = entries_text("B", coordinates[sort], values[sort], extents)
            for ranks, placement in [(1, ""), (3, "A(x, y) -> M(y)"), (4, "A(x, y) -> M(cyclic(x, 3))"),
                                     (2, "A(x, y) -> M(*)")]:
                text = run("i64", extents, placement, ranks, ["--in", f"B={folder}/B.tns", "--print", "B"], f", {levels}")
                check(text == want, f"{count} entries, {levels}, '{placement}' on {ranks}:\n{text}\nexpected\n{want}")


def test_csv(folder):
    random = numpy.random.default_rng(3)
    for kind, dtype in DTYPE.items():
        for extents in [(7,), (1,), (5, 9), (300, 41), (1, 6), (6, 1)]:
            array = drawn(random, kind, extents)
            numpy.save(f"{folder}/B.npy", array)
            written = set()
            for ranks, placement in zip((1, 2, 3), PLACEMENTS[len(extents)]):
                run(kind, extents, placement, ranks, ["--in", f"B={folder}/B.npy", "--out", f"A={folder}/A.csv"])
                with open(f"{folder}/A.csv", "rb") as file:
                    written.add(file.read())
            check(len(written) == 1, f"{kind} {extents}: the bytes depend on ranks")
            read = numpy.loadtxt(f"{folder}/A.csv", delimiter=",", dtype=dtype, ndmin=len(extents))
            check(read.shape == extents and numpy.array_equal(read, array, equal_nan=array.dtype.kind in "fc"),
                  f"{kind} {extents}: NumPy reads other numbers")


def test_csv_of_entries(folder):
    run("f64", (9, 8), "A(x, y) -> M(y)", 3, ["--in", "B=random:1:0.3", "--out", f"A={folder}/A.csv", "--out",
                                              f"B={folder}/B.npy"], ", csr")
    with open(f"{folder}/A.csv", encoding="utf-8") as file:
        check(file.readline() == "row,column,value\n", "no names")
        rows = numpy.loadtxt(file, delimiter=",", ndmin=2)
    whole = numpy.zeros((9, 8))
    whole[rows[:, 0].astype(int), rows[:, 1].astype(int)] = rows[:, 2]
    check(len(rows) > 10 and numpy.array_equal(whole, numpy.load(f"{folder}/B.npy")), "other entries")


def test_refused(folder):
    for options, why in [(["--print", "Q"], "--print Q: the program has no tensor 'Q'"),
                         (["--print", "A", "--out", "A=-"], "--print A: 'A' is printed already"),
                         (["--print", "A", "--stats=json"], "--print A: --stats=json prints on standard output as well"),
                         (["--out", "A=A.csv"], "cannot write A to 'A.csv': .csv is for tensors of 1 to 2 modes, and A has 3"),
                         (["--in", "B=B.csv"], "cannot read B from 'B.csv': .csv is only written")]:
        done = distal(["run", "-e", "tensor A(2, 2, 2): f64; tensor B(2, 2, 2): f64; A(i, j, k) = B(i, j, k)", *options], 2)
        check(why in done.stderr, f"{options}: {done.stderr}")


if __name__ == "__main__":
    sys.exit(run_cases(functions_named_test("print", globals())))
