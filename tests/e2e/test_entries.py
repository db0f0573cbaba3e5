#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Entries in and out: generators against an implementation from docs/command.md, and files of entries against each
other and NumPy.

Prints `ok NAME` or `FAIL NAME: why` for each case. A name on the command line runs the cases that contain it."""
import itertools
import os
import sys

import numpy

from _common import check, distal, functions_named_test, run_cases, stay

MASK = (1 << 64) - 1


def value(seed, position):
    z = (seed + (position + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    z ^= z >> 31
    return (z >> 11) * 2.0**-53


def made(folder, source, extents, levels="", kind="f64"):
    """The array that a tensor of these extents has from a source: written by `distal run`."""
    names = ["i", "j", "k"][:len(extents)]
    text = (f"tensor B({', '.join(map(str, extents))}): {kind}{levels}; tensor s: {kind}; "
            f"s = B({', '.join(names)})")
    distal(["run", "-e", text, "--in", f"B={source}", "--out", f"B={folder}/B.npy"])
    return numpy.load(f"{folder}/B.npy")


def made_alike(folder, source, extents, levels, kind="f64"):
    """The same of a dense and a sparse tensor, which have to agree."""
    dense = made(folder, source, extents, "", kind)
    sparse = made(folder, source, extents, f", {levels}", kind)
    check(numpy.array_equal(dense, sparse), f"{source}: dense {dense}, sparse {sparse}")
    return dense


def test_sparse(folder):
    for extents, levels in (((7, 5), "csr"), ((4, 3, 50), "csf"), ((1000,), "{compressed}")):
        for kind, scale in (("f64", 1), ("i32", 1024)):
            expected = numpy.zeros(extents, numpy.float64 if kind == "f64" else numpy.int32)
            for entry in range(60):
                x = tuple(int(n * value(9, entry * len(extents) + d)) for d, n in enumerate(extents))
                expected[x] += scale * value(10, entry) if kind == "f64" else int(scale * value(10, entry))
            found = made_alike(folder, "sparse:9:60", extents, levels, kind)
            check(numpy.allclose(found, expected, rtol=1e-15), f"{found} is not {expected}")


def test_rmat(folder):
    expected = numpy.zeros((40, 32))
    for edge in range(100):
        row = column = 0
        for bit in range(5):
            quadrant = numpy.searchsorted([0.57, 0.57 + 0.19, 0.57 + 0.19 + 0.19], value(3, edge * 5 + bit), "right")
            row, column = 2 * row + quadrant // 2, 2 * column + quadrant % 2
        expected[row, column] += value(4, edge)
    found = made_alike(folder, "rmat:3:5:100", (40, 32), "dcsr")
    check(numpy.allclose(found, expected, rtol=1e-15), f"{found} is not {expected}")


def test_stencil(folder):
    for points, dimensions, star, side in ((3, 1, False, 6), (5, 2, True, 4), (9, 2, False, 3), (7, 3, True, 3),
                                           (27, 3, False, 3), (27, 3, False, 1)):
        n = side**dimensions
        expected = numpy.zeros((n, n))
        grid = list(itertools.product(range(side), repeat=dimensions))
        for p, q in itertools.product(range(n), repeat=2):
            steps = [abs(a - b) for a, b in zip(grid[p], grid[q])]
            if p == q:
                expected[p, q] = points - 1
            elif max(steps) == 1 and (sum(steps) == 1 or not star):
                expected[p, q] = -1
        found = made_alike(folder, f"stencil:{points}", (n, n), "csr")
        check(numpy.array_equal(found, expected), f"stencil:{points} on {n}: {found} is not {expected}")


def test_dense_generators(folder):
    found = made_alike(folder, "random:5:0.3", (30, 40), "csc")
    expected = [value(6, p) if value(5, p) < 0.3 else 0 for p in range(1200)]
    check(numpy.array_equal(found.ravel(), expected), "random:5:0.3")
    for source in ("zeros", "ones", "iota", "const:3", "random:2"):
        made_alike(folder, source, (9, 8), "coo")


def test_placed(folder):
    """Of dense and sparse tensors, each rank makes a share of the entries, and the check makes them again."""
    sources = ("sparse:3:40", "rmat:1:4:60", "stencil:5")
    expected = [made(folder, source, (16, 16)) for source in sources]
    for ranks, place, levels in ((1, "x", ""), (3, "x", ""), (4, "y", ", csr"), (5, "cyclic(y, 2)", ""), (8, "*", "")):
        program, options = f"machine M = grid({ranks})\n", []
        for n, source in enumerate(sources):
            program += (f"tensor B{n}(16, 16): f64{levels}; place B{n}(x, y) -> M({place}); "
                        f"tensor A{n}(16, 16): f64; place A{n}(x, y) -> M({place}); A{n}(i, j) = B{n}(i, j)\n")
            options += ["--in", f"B{n}={source}", "--out", f"A{n}={folder}/A{n}.npy"]
        distal(["run", "-e", program, *options, "--check", "-q"])
        for n, source in enumerate(sources):
            check(numpy.array_equal(numpy.load(f"{folder}/A{n}.npy"), expected[n]), f"{source} on {ranks} ranks{levels}")


def test_many_threads(folder):
    for source in ("sparse:1:200000", "rmat:1:9:200000", "random:3:0.2"):
        one = made(folder, source, (512, 600), ", csr")
        several = distal(["run", "--threads", "3", "-e", "tensor B(512, 600): f64, csr; tensor s: f64; s = B(i, j)",
                          "--in", f"B={source}", "--out", f"B={folder}/B.npy"])
        check(several is not None and numpy.array_equal(one, numpy.load(f"{folder}/B.npy")), source)


def copy(pairs, levels="", ranks="1"):
    """Reads tensors from the first file of each pair and writes them to the second one, all in one run."""
    program, options = "", []
    for n, (source, target) in enumerate(pairs):
        program += f"tensor B{n}(20, 30): f64{levels}; tensor s{n}: f64; s{n} = B{n}(i, j)\n"
        options += ["--in", f"B{n}={source}", "--out", f"B{n}={target}"]
    distal(["run", "--ranks", ranks, "-e", program, *options])


def test_files(folder):
    """From each file format to each other, sparse and dense."""
    copy([("sparse:2:90", f"{folder}/in.npy")], ", csr")
    expected = numpy.load(f"{folder}/in.npy")
    formats = list(itertools.product(("npy", "mtx", "tns"), repeat=2))
    for levels, ranks in (("", "2"), (", csc", "1")):
        copy([(f"{folder}/in.npy", f"{folder}/in.{source}") for source in ("mtx", "tns")], levels, ranks)
        copy([(f"{folder}/in.{source}", f"{folder}/{source}.{target}") for source, target in formats], levels, ranks)
        copy([(f"{folder}/{source}.{target}", f"{folder}/{source}.{target}.npy") for source, target in formats])
        for source, target in formats:
            found = numpy.load(f"{folder}/{source}.{target}.npy")
            check(numpy.array_equal(found, expected), f"{levels} {source} {target}: {found}")
            os.remove(f"{folder}/{source}.{target}.npy")


def array_text(symmetry, extents, values):
    lines = "\n".join(map(repr, values))
    return f"%%MatrixMarket matrix array real {symmetry}\n{extents[0]} {extents[1]}\n{lines}\n"


def test_arrays_of_text(folder):
    """Of which ranks read shares, into dense and sparse tensors; a dense one keeps the sign of zeros."""
    arrays = {}  # by symmetry: the elements, and how many of them the file has
    for symmetry, extents in (("general", (7, 4)), ("symmetric", (6, 6)), ("skew-symmetric", (6, 6))):
        rows, columns = numpy.mgrid[:extents[0], :extents[1]]
        expected = numpy.where((rows * columns) % 3 == 0, -0.0, (rows + 1) * 0.1 + columns * columns)
        kept = rows >= 0
        if symmetry != "general":
            kept = rows > columns if symmetry[:2] == "sk" else rows >= columns
            lower = numpy.where(kept, expected, 0)
            expected = lower - lower.T if symmetry[:2] == "sk" else numpy.where(kept, expected, expected.T)
        values = [float(expected[i, j]) for j in range(extents[1]) for i in range(extents[0]) if kept[i, j]]
        arrays[symmetry] = expected, len(values)
        for name, more in (symmetry, []), (f"{symmetry}.more", [1.5] * 30):
            with open(f"{folder}/{name}.mtx", "w", encoding="utf-8") as file:
                file.write(array_text(symmetry, extents, values + more))
    for turn, (ranks, levels) in enumerate(((1, ""), (2, ""), (5, ""), (12, ""), (3, ", csr"))):
        program, options = f"machine M = grid({ranks})\n", []
        for n, (symmetry, (expected, _)) in enumerate(arrays.items()):
            program += (f"tensor B{n}{expected.shape}: f64{levels}; place B{n}(x, y) -> M(y); tensor A{n}{expected.shape}: f64; "
                        f"place A{n}(x, y) -> M(y); A{n}(i, j) = B{n}(i, j)\n")
            options += ["--in", f"B{n}={folder}/{symmetry}.mtx", "--out", f"A{n}={folder}/A{n}.npy"]
        distal(["run", "-e", program, *options, "--check", "-q"])
        for n, (symmetry, (expected, _)) in enumerate(arrays.items()):
            found = numpy.load(f"{folder}/A{n}.npy")
            same = found == expected if levels else found.view("i8") == expected.view("i8")
            check(same.all(), f"{symmetry} on {ranks} ranks{levels}: {found}")
        n = turn % len(arrays)
        symmetry, (_, count) = list(arrays.items())[n]
        wrong = distal(["run", "-e", program, "--in", f"B{n}={folder}/{symmetry}.more.mtx"], status=1).stderr
        check(f"its header says {count} entries, and it has {count + 30}" in wrong, wrong)


if __name__ == "__main__":
    stay()
    sys.exit(run_cases(functions_named_test("entries", globals())))
