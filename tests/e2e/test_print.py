#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tensors as text: --print and --out T=- against what NumPy prints, and .csv files against what NumPy reads, of
tensors of every type, with drawn extents and numbers, on any number of ranks and under any placement.

Prints `ok NAME` or `FAIL NAME: why` for each case. A name on the command line runs the cases that contain it."""
import io
import os
import re
import sys
from itertools import zip_longest
from typing import NamedTuple

import numpy

from _common import DTYPE, check, distal, functions_named_test, run_cases, stay

PLACEMENTS = {0: [""], 1: ["", "A(x) -> M(x)", "A(x) -> M(cyclic(x, 3))"],
              2: ["", "A(x, y) -> M(y)", "A(x, y) -> M(cyclic(x, 7))", "A(x, y) -> M(*)"],
              3: ["", "A(x, y, z) -> M(z)", "A(x, y, z) -> M(cyclic(y, 2))"]}


class Copied(NamedTuple):
    """Of a program, the statement that copies B with its number to A."""
    kind: str
    extents: tuple
    placement: str
    levels: str = ""


def program(every):
    """One for all of these, as starting ranks takes most of the time of a run."""
    lines = ["param R = 1; machine M = grid(R)"]
    for number, (kind, extents, placement, levels) in enumerate(every):
        names = "ijklmnopqrst"[:len(extents)]
        shape = f"({', '.join(map(str, extents))})" if len(extents) else ""
        access = f"({', '.join(names)})" if len(extents) else ""
        for name in (f"A{number}", f"B{number}"):
            lines.append(f"tensor {name}{shape}: {kind}{levels}" + (f"; place {name}{placement[1:]}" if placement else ""))
        lines.append(f"A{number}{access} = B{number}{access}")
    return "\n".join(lines) + "\n"


def run(every, ranks, options):
    return distal(["run", "-e", program(every), "-n", str(ranks), "-p", f"R={ranks}", *options]).stdout


def printed(text, numbers):
    """What is printed of each B, by its number; they come in the order of the program."""
    parts = re.split(r"^(?=B\d+ = )", text, flags=re.M)[1:]
    found = {int(part[1:part.index(" ")]): part for part in parts}
    check("".join(parts) == text and len(parts) == len(found) and list(found) == list(numbers),
          f"B{list(found)} are printed, not B{list(numbers)}")
    return found


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
    drawings = {}  # by number of ranks: what is copied, and the array
    for number in range(60):
        kind = list(DTYPE)[number % 6]
        extents = SHAPES[number % len(SHAPES)] if number < 32 else SHAPES[int(random.integers(len(SHAPES)))]
        array = drawn(random, kind, extents)
        placement = random.choice(PLACEMENTS[len(extents)])
        drawings.setdefault([1, 2, 1, 3][number % 4], []).append((Copied(kind, extents, placement), array))
    for ranks, drawing in drawings.items():
        options = []
        for number, (_, array) in enumerate(drawing):
            numpy.save(f"{folder}/{number}.npy", array)
            options += ["--in", f"B{number}={folder}/{number}.npy"]
            options += ["--out", f"B{number}=-"] if number // 2 % 2 else ["--print", f"B{number}"]
        texts = printed(run([copied for copied, _ in drawing], ranks, options), range(len(drawing)))
        for number, (copied, array) in enumerate(drawing):
            text, want = texts[number], expected(f"B{number}", array)
            if array.dtype in ("f4", "c8"):  # NumPy leaves a column more where it rounds a float to ...0
                text, want = "".join(text.split()), "".join(want.split())
            for at, (line, right) in enumerate(zip_longest(text.splitlines(), want.splitlines()), 1):
                check(line == right, f"{copied} on {ranks}, line {at}: {line!r}, NumPy prints {right!r}")


def test_many_modes(folder):
    """Of a tensor of many modes fewer coordinates are shown: all of it is not 10^6 numbers."""
    text = run([Copied("f64", (3,) * 12, "")], 2, ["--in", "B0=iota", "--print", "B0"])
    check(text.startswith("B0 = [[[[[[[[[[[[0.00000e+00 ... 2.00000e+00]"), f"it begins with {text[:60]}")
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
    extents, cases, options = (40, 37), [], []  # cases: the levels, what is wanted
    for count in (0, 1, 7, 50, 51, 400):
        for levels, order in [("csr", [0, 1]), ("csc", [1, 0]), ("coo", [0, 1])]:
            places = numpy.sort(random.choice(extents[0] * extents[1], count, replace=False))
            coordinates = numpy.stack([places // extents[1], places % extents[1]], 1)
            values = random.integers(-50, 50, count)
            name = f"B{len(cases)}"
            with open(f"{folder}/{name}.tns", "w", encoding="utf-8") as file:
                for e in random.permutation(count):
                    file.write(f"{coordinates[e][0] + 1} {coordinates[e][1] + 1} {values[e]}\n")
            sort = numpy.lexsort([coordinates[:, order[1]], coordinates[:, order[0]]])
            cases.append((levels, entries_text(name, coordinates[sort], values[sort], extents)))
            options += ["--in", f"{name}={folder}/{name}.tns", "--print", name]
    for ranks, placement in [(1, ""), (3, "A(x, y) -> M(y)"), (4, "A(x, y) -> M(cyclic(x, 3))"), (2, "A(x, y) -> M(*)")]:
        texts = printed(run([Copied("i64", extents, placement, f", {levels}") for levels, _ in cases], ranks, options),
                        range(len(cases)))
        for number, (levels, want) in enumerate(cases):
            check(texts[number] == want, f"{levels}, '{placement}' on {ranks}:\n{texts[number]}\nexpected\n{want}")


def test_csv(folder):
    random = numpy.random.default_rng(3)
    arrays = [(kind, drawn(random, kind, extents)) for kind in DTYPE
              for extents in [(7,), (1,), (5, 9), (300, 41), (1, 6), (6, 1)]]
    written, options = [set() for _ in arrays], []
    for number, (_, array) in enumerate(arrays):
        numpy.save(f"{folder}/{number}.npy", array)
        options += ["--in", f"B{number}={folder}/{number}.npy", "--out", f"A{number}={folder}/{number}.csv"]
    for at, ranks in enumerate((1, 2, 3)):
        run([Copied(kind, array.shape, PLACEMENTS[array.ndim][at]) for kind, array in arrays], ranks, options)
        for number, contents in enumerate(written):
            with open(f"{folder}/{number}.csv", "rb") as file:
                contents.add(file.read())
            os.remove(f"{folder}/{number}.csv")
    for (kind, array), contents in zip(arrays, written):
        check(len(contents) == 1, f"{kind} {array.shape}: the bytes depend on ranks")
        read = numpy.loadtxt(io.BytesIO(contents.pop()), delimiter=",", dtype=array.dtype, ndmin=array.ndim)
        check(read.shape == array.shape and numpy.array_equal(read, array, equal_nan=array.dtype.kind in "fc"),
              f"{kind} {array.shape}: NumPy reads other numbers")


def test_csv_of_entries(folder):
    run([Copied("f64", (9, 8), "A(x, y) -> M(y)", ", csr")], 3,
        ["--in", "B0=random:1:0.3", "--out", f"A0={folder}/A.csv", "--out", f"B0={folder}/B.npy"])
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
    stay()
    sys.exit(run_cases(functions_named_test("print", globals())))
