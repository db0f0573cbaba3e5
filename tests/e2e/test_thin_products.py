#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Products of matrices with few columns, few rows, few products in each sum, or long sums, which are large enough that several
threads compute them, in any layout and of any type: drawn from a seed, of small integers, so that results are exact."""
import random
import sys

import numpy
from _common import DTYPE, check, distal, run_cases

PRODUCTS = 8  # of a program


def draw_extents(draw):
    """Rows, columns and terms."""
    few, some = draw.choice((1, 3, 8, 23, 64, 100, 128)), draw.randint(129, 400)
    least = (5 << 18) + draw.randint(1, 1 << 21)
    return draw.choice((
        lambda: (least // (few * some) + 1, few, some),
        lambda: (few, least // (few * some) + 1, some),
        lambda: (some, least // (min(few, 64) * some) + 1, min(few, 64)),
        lambda: (few, few, least // few**2 + 1),
        lambda: (few, some, least // (few * some) + 1)))()


def draw_product(draw, number):
    """(declarations, statement, type, extents by name, whether it adds to its result)"""
    kind, extents = draw.choice(list(DTYPE)), dict(zip("ijk", draw_extents(draw)))
    inner = draw.choice((1, 1, 2, 5))  # the sum is one of pairs
    extents["k"] = -(-extents["k"] // inner)
    extents["l"] = inner
    modes = {}
    for name, variables in (("A", "ij"), ("B", "ik"), ("C", "kj")):
        variables = list(variables.replace("k", "kl") if inner > 1 else variables)
        draw.shuffle(variables)
        modes[f"{name}{number}"] = variables
    a, b, c = ({f"{name}({', '.join(variables)})" for name, variables in [item]}.pop() for item in modes.items())
    adds = draw.random() < 0.5
    statement = f"{a} {'+=' if adds else '='} {b} * {c}"
    lines = [f"tensor {name}({', '.join(str(extents[v]) for v in variables)}): {kind}" for name, variables in modes.items()]
    if draw.random() < 0.5:
        first = modes[f"A{number}"][0]
        lines += [f"place {name}({', '.join(variables)}) -> M({first})" for name, variables in modes.items() if first in variables]
    return lines, statement, kind, extents, modes, adds


def values(generator, kind, shape):
    array = generator.integers(-3, 4, shape)
    if kind[0] == "c":
        array = array + 1j * generator.integers(-3, 4, shape)
    return array.astype(DTYPE[kind])


def run_program(seed, ranks, threads, folder):
    draw, generator = random.Random(seed), numpy.random.default_rng(seed)
    products = [draw_product(draw, number) for number in range(PRODUCTS)]
    lines, statements, words, expected = ["param p = 1", "machine M = grid(p)"], [], [], {}
    for declarations, statement, kind, extents, modes, adds in products:
        lines += declarations
        statements.append(statement)
        arrays = {name: values(generator, kind, [extents[v] for v in variables]) for name, variables in modes.items()}
        (result, to), *operands = modes.items()
        for name in arrays:
            if name != result or adds:
                numpy.save(f"{folder}/{name}.npy", arrays[name])
                words += ["--in", f"{name}={folder}/{name}.npy"]
        words += ["--out", f"{result}={folder}/{result}.out.npy"]
        einsum = ",".join("".join(variables) for _, variables in operands) + "->" + "".join(to)
        product = numpy.einsum(einsum, *(arrays[name] for name, _ in operands), optimize=True)
        expected[result] = (statement, product + arrays[result] if adds else product)
    distal(["run", "-", "-q", "-n", str(ranks), "-p", f"p={ranks}", "--threads", str(threads), *words],
           text="\n".join(lines + statements) + "\n")
    for name, (statement, array) in expected.items():
        found = numpy.load(f"{folder}/{name}.out.npy")
        check(numpy.array_equal(found, array),
              f"seed {seed}: {statement}, of {array.dtype} {array.shape}, is wrong in {numpy.count_nonzero(found != array)} elements")


def main():
    return run_cases([(f"thin/{seed} on {ranks} x {threads}",
                       lambda folder, case=(seed, ranks, threads): run_program(*case, folder))
                      for seed, ranks, threads in ((1, 1, 1), (2, 1, 2), (3, 1, 3), (4, 2, 1), (5, 2, 2), (6, 3, 1), (7, 1, 2), (8, 1, 7))])


if __name__ == "__main__":
    sys.exit(main())
