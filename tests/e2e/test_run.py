#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the examples on inputs that NumPy wrote and compares what they write with numpy.einsum: extents that divide
nothing, empty pieces, grids of all shapes, one to twelve ranks; and what plan predicts with what run counts.

Prints `ok NAME` or `FAIL NAME: why` for each case. A name on the command line runs the cases that contain it."""
import glob
import json
import math
import os
import re
import signal
import subprocess
import sys
import time

import numpy

import _resident
from _common import (DISTAL, DTYPE, LIMIT_SECONDS, OPTIMIZED, check, distal, example, functions_named_test, params,
                     preloaded, ranks_of_run, run_cases, wait_for)

TOLERANCE = {"f32": 1e-5, "f64": 1e-13, "c64": 1e-5, "c128": 1e-13, "i32": 0, "i64": 0}

# What each example computes: the target, the operands, and numpy.einsum's subscripts.
MATMUL = ("A", "BC", "ik,kj->ij")
EXAMPLES = {
    "cannon": MATMUL, "pumma": MATMUL, "summa": MATMUL, "summa_interleaved": MATMUL, "johnson": MATMUL, "solomonik": MATMUL, "cosma": MATMUL,
    "hierarchical_summa": MATMUL, "summa_cannon": MATMUL, "cannon_summa": MATMUL, "johnson_rows": MATMUL,
    "ttv": ("A", "Bc", "ijk,k->ij"),
    "innerprod": ("a", "BC", "ijk,ijk->"),
    "ttm": ("A", "BC", "ijk,kl->ijl"),
    "mttkrp": ("A", "BCD", "ijk,jl,kl->il"),
    "mttkrp_ttm": ("A", "BCD", "ijk,jl,kl->il"),
    "mttkrp_rows": ("A", "BCD", "ijk,jl,kl->il"),
    "coupled_cluster": ("A", "BC", "acik,cbkj->abij"),
    "adapted": ("A", "Bc", "ij,j->ij"),
    "adapted_columns": ("A", "Bc", "ij,j->ij"),
    "redistribute": ("A", "B", "ij->ij"),
    "spmv": ("y", "Bx", "ij,j->i"),
    "spmm": ("A", "BC", "ij,jl->il"),
    "spmm_shift": ("A", "BC", "ij,jl->il"),
    "spmm_15d": ("A", "BC", "ij,jl->il"),
    "spmm_25d": ("A", "BC", "ij,jl->il"),
    "spmm_batched": ("A", "BC", "ij,jl->il"),
    "sddmm": ("A", "BCD", "ij,il,lj->ij"),
    "sddmm_spmm": ("A", "BCDE", "ij,ik,jk,jl->il"),
    "spgemm": ("A", "BC", "ik,kj->ij"),
    "spadd": ("A", "BCD", "ij+ij+ij->ij"),
    "sparse_mttkrp": ("A", "BCD", "ijk,jl,kl->il"),
    "sparse_mttkrp_grid": ("A", "BCD", "ijk,jl,kl->il"),
}
# Operands of these that are sparse.
SPARSE = {"spmv": "B", "spmm": "B", "spmm_shift": "B", "spmm_15d": "B", "spmm_25d": "B", "spmm_batched": "B",
          "sddmm": "B", "sddmm_spmm": "B", "spgemm": "BC", "spadd": "BCD", "sparse_mttkrp": "B", "sparse_mttkrp_grid": "B"}
# The param that is the extent of each subscript, where its name is not its own.
EXTENT = {"i": "m", "j": "n", "k": "q", "l": "r"}
EXTENT_OF = {"coupled_cluster": {s: "n" + s for s in "abcijk"}}

AWKWARD = "m=97 n=101 q=89"
# Example, params, ranks (None: what the machine needs), element type.
RUNS = [
    ("summa", f"{AWKWARD} gx=1 gy=1 chunk=13", None, "f64"),
    ("summa", f"{AWKWARD} gx=2 gy=3 chunk=13", None, "f64"),
    ("summa", f"{AWKWARD} gx=4 gy=3 chunk=100", None, "f64"),
    ("summa", f"{AWKWARD} gx=3 gy=1 chunk=8", None, "c64"),
    ("summa", f"{AWKWARD} gx=4 gy=3 chunk=17", 6, "f32"),
    ("summa", f"{AWKWARD} gx=4 gy=2 chunk=17", 2, "i32"),
    ("summa", "m=1 n=1 q=1 gx=2 gy=2 chunk=1", None, "f64"),
    ("summa", "m=5 n=2 q=3 gx=4 gy=3 chunk=2", None, "i64"),
    ("summa", "m=0 n=4 q=3 gx=2 gy=1 chunk=2", None, "f64"),
    ("summa", "m=4 n=4 q=0 gx=2 gy=1 chunk=2", None, "f64"),
    ("cannon", f"{AWKWARD} g=1", None, "f64"),
    ("cannon", f"{AWKWARD} g=2", None, "c128"),
    ("cannon", f"{AWKWARD} g=3", None, "f64"),
    ("cannon", f"{AWKWARD} gx=2 gy=3", None, "f64"),
    ("cannon", f"{AWKWARD} gx=3 gy=1", None, "i64"),
    ("cannon", f"{AWKWARD} gx=4 gy=2", 4, "f64"),
    ("cannon", "m=2 n=7 q=1 g=3", None, "f64"),
    ("pumma", f"{AWKWARD} g=2", None, "f32"),
    ("pumma", f"{AWKWARD} g=3", None, "f64"),
    ("pumma", f"{AWKWARD} gx=4 gy=3", None, "f64"),
    ("pumma", "m=3 n=1 q=2 gx=2 gy=4", None, "f64"),
    ("summa_interleaved", f"{AWKWARD} gx=2 gy=3 chunk=5", None, "f64"),
    ("summa_interleaved", f"{AWKWARD} gx=4 gy=3 chunk=100", 6, "c64"),
    ("summa_interleaved", "m=5 n=2 q=3 gx=3 gy=4 chunk=2", 4, "i64"),
    ("johnson", f"{AWKWARD} c=2", None, "f64"),
    ("johnson", f"{AWKWARD} gx=2 gy=3 gz=2", None, "c128"),
    ("johnson", f"{AWKWARD} gx=1 gy=2 gz=3", None, "f32"),
    ("johnson", f"{AWKWARD} c=2", 4, "i32"),
    ("johnson", "m=1 n=3 q=1 c=2", None, "f64"),
    ("solomonik", f"{AWKWARD} g=2 c=2", None, "f64"),
    ("solomonik", f"{AWKWARD} gx=2 gy=3 c=2", None, "f64"),
    ("solomonik", f"{AWKWARD} g=2 c=3", None, "f64"),
    ("solomonik", f"{AWKWARD} g=3 c=1", 3, "f64"),
    ("solomonik", "m=3 n=2 q=5 g=2 c=2", None, "i64"),
    ("cosma", f"{AWKWARD} gx=2 gy=2 gz=3 steps=3", None, "f64"),
    ("cosma", f"{AWKWARD} gx=1 gy=1 gz=6 steps=2", None, "f64"),
    ("cosma", f"{AWKWARD} gx=2 gy=5 gz=2 steps=3", None, "f64"),
    ("cosma", f"{AWKWARD} gx=3 gy=2 gz=1 steps=7", None, "c64"),
    ("cosma", "m=2 n=2 q=3 gx=2 gy=2 gz=2 steps=2", None, "f64"),
    ("hierarchical_summa", f"{AWKWARD} gx=2 gy=1 cx=1 cy=2 chunk=20", None, "f64"),
    ("hierarchical_summa", f"{AWKWARD} gx=2 gy=3 cx=2 cy=1 chunk=9", None, "f64"),
    ("hierarchical_summa", "m=5 n=7 q=3 gx=2 gy=2 cx=1 cy=2 chunk=2", 4, "i32"),
    ("summa_cannon", f"{AWKWARD} gx=2 gy=1 c=2", None, "f64"),
    ("summa_cannon", f"{AWKWARD} gx=2 gy=3 cx=1 cy=2 blocks=5", None, "c64"),
    ("summa_cannon", "m=3 n=5 q=2 gx=1 gy=3 cx=2 cy=2", 4, "i64"),
    ("cannon_summa", f"{AWKWARD} g=2 cx=2 cy=1 chunk=17", None, "f64"),
    ("cannon_summa", "m=5 n=1 q=7 gx=3 gy=2 cx=1 cy=2 chunk=2", 6, "f32"),
    ("johnson_rows", f"{AWKWARD} gx=2 gy=1 gz=3 p=2", None, "f64"),
    ("johnson_rows", "m=3 n=2 q=1 c=2 gz=2 p=2", 8, "i32"),
    ("ttv", "m=23 n=31 q=29 gx=2 gy=3", None, "f64"),
    ("ttv", "m=23 n=31 q=29 gx=1 gy=1", None, "f32"),
    ("ttv", "m=3 n=1 q=1 gx=4 gy=2", None, "c128"),
    ("innerprod", "m=23 n=31 q=29 gx=2 gy=3", None, "f64"),
    ("innerprod", "m=23 n=31 q=29 gx=3 gy=4", None, "i64"),
    ("innerprod", "m=1 n=2 q=3 gx=2 gy=2", None, "c64"),
    ("ttm", "m=23 n=19 q=17 r=13 p=4", None, "f64"),
    ("ttm", "m=23 n=19 q=17 r=13 p=12", 6, "i32"),
    ("ttm", "m=2 n=3 q=1 r=5 p=3", None, "f32"),
    ("mttkrp", "m=23 n=19 q=17 r=13 gx=2 gy=2 gz=3", None, "f64"),
    ("mttkrp", "m=23 n=19 q=17 r=13 gx=1 gy=3 gz=1", None, "c128"),
    ("mttkrp_ttm", "m=23 n=19 q=17 r=13 gx=2 gy=3", None, "f64"),
    ("mttkrp_ttm", "m=2 n=3 q=11 r=1 gx=3 gy=2", None, "c64"),
    ("mttkrp_rows", "m=23 n=19 q=17 r=13 gx=2 gy=3", None, "f64"),
    ("mttkrp_rows", "m=2 n=3 q=11 r=1 gx=3 gy=2", None, "c128"),
    ("mttkrp", "m=2 n=3 q=1 r=1 gx=2 gy=2 gz=2", None, "i64"),
    ("coupled_cluster", "na=7 nb=5 nc=11 ni=3 nj=4 nk=6 gx=2 gy=2", None, "f64"),
    ("coupled_cluster", "na=7 nb=5 nc=11 ni=3 nj=4 nk=6 gx=2 gy=3", None, "c64"),
    ("coupled_cluster", "na=1 nb=5 nc=2 ni=3 nj=1 nk=2 gx=3 gy=3", None, "f64"),
    ("adapted", "m=97 n=101 p=4", None, "f64"),
    ("adapted", "m=5 n=3 p=8", None, "i32"),
    ("adapted_columns", "m=97 n=101 p=3", None, "f64"),
    ("adapted_columns", "m=5 n=3 p=8", 2, "c64"),
    ("redistribute", "m=97 n=101 p=12", None, "i32"),
    ("redistribute", "m=97 n=101 p=20", None, "f64"),
    ("redistribute", "m=3 n=101 p=6", 3, "c128"),
    ("spmv", "m=97 n=101", 1, "f64"),
    ("spmv", "m=1 n=5000", 4, "c64"),
    ("spmv", "m=0 n=3", 1, "i32"),
    ("spmm", "m=97 n=101 r=33", 1, "f64"),
    ("spmm", "m=97 n=101 r=8", 2, "f32"),
    ("spmm_shift", "m=97 n=101 r=17 p=3", None, "f64"),
    ("spmm_shift", "m=2 n=11 r=4 p=5", None, "i32"),
    ("spmm_shift", "m=97 n=3 r=1 p=8", 4, "c64"),
    ("spmm_15d", "m=97 n=101 r=17 p=3 c=4", None, "f64"),
    ("spmm_15d", "m=2 n=3 r=1 p=2 c=5", None, "i64"),
    ("spmm_15d", "m=97 n=101 r=8 p=1 c=7", 1, "c64"),
    ("spmm_25d", "m=97 n=101 r=17 g=2 c=2", None, "f64"),
    ("spmm_25d", "m=97 n=1 r=5 g=3 c=1", None, "i32"),
    ("spmm_25d", "m=1 n=101 r=3 g=2 c=1", 2, "f64"),
    ("spmm_batched", "m=97 n=101 r=17 p=5 b=3", None, "f64"),
    ("spmm_batched", "m=2 n=11 r=1 p=11 b=2", None, "f32"),
    ("sddmm", "m=97 n=101 r=17", 1, "f64"),
    ("sddmm", "m=5 n=1 r=0", 1, "f64"),
    ("sddmm_spmm", "m=97 n=101 q=7 r=17 p=5", None, "f64"),
    ("sddmm_spmm", "m=1 n=13 q=1 r=3 p=9", None, "i64"),
    ("sddmm_spmm", "m=97 n=11 q=0 r=3 p=4", 2, "f64"),
    ("spgemm", f"{AWKWARD}", 1, "f64"),
    ("spgemm", f"{AWKWARD}", 3, "i64"),
    ("spadd", "m=97 n=101", 1, "f64"),
    ("spadd", "m=3 n=2000", 2, "c128"),
    ("sparse_mttkrp", "m=23 n=29 q=31 r=16", 1, "f64"),
    ("sparse_mttkrp", "m=23 n=1 q=31 r=5", 2, "f32"),
    ("sparse_mttkrp_grid", "m=23 n=29 q=31 r=7 gx=3 gy=2 gz=2", None, "f64"),
    ("sparse_mttkrp_grid", "m=23 n=1 q=31 r=5 gx=1 gy=2 gz=5", None, "c128"),
    ("sparse_mttkrp_grid", "m=2 n=29 q=3 r=1 gx=3 gy=1 gz=2", 3, "i32"),
]


def random_array(generator, shape, element_type):
    if element_type[0] == "i":
        return generator.integers(-50, 50, shape).astype(DTYPE[element_type])
    array = generator.standard_normal(shape)
    if element_type[0] == "c":
        array = array + 1j * generator.standard_normal(shape)
    return array.astype(DTYPE[element_type])


def einsum(subscripts, operands):
    """In the widest type, so that NumPy's own rounding does not count; integers wrap around as they do in C."""
    kind = operands[0].dtype.kind
    wide = {"i": "i8", "f": "f8", "c": "c16"}[kind]
    return multiply(subscripts, [operand.astype(wide) for operand in operands]).astype(operands[0].dtype)


def multiply(subscripts, operands):
    """numpy.einsum; with '+' in place of ',' the sum."""
    return sum(operands) if "+" in subscripts else numpy.einsum(subscripts, *operands)


def compare(got, expected, magnitude, tolerance):
    check(got.shape == expected.shape, f"shape {got.shape}, expected {expected.shape}")
    check(got.dtype == expected.dtype, f"type {got.dtype}, expected {expected.dtype}")
    if got.size == 0:
        return
    if tolerance == 0:
        check((got == expected).all(), f"{numpy.count_nonzero(got != expected)} of {got.size} elements differ")
        return
    error = numpy.abs(got.astype("c16") - expected.astype("c16")) / numpy.maximum(magnitude, 1e-300)
    check(error.max() <= tolerance, f"relative error {error.max():.2g}")


def same_figures(planned, counted):
    """plan's object is run's, without what is measured."""
    check(planned["ranks"] == counted["ranks"], "ranks differ")
    for plan, run in zip(planned["statements"], counted["statements"], strict=True):
        for key in ("target", "flop", "tensors", "peak_bytes"):
            check(plan[key] == run[key], f"{key} of plan and run differ:\n    {plan[key]}\n    {run[key]}")
        for key in ("bytes_received", "messages_received"):
            total = [sum(values) for values in zip(*(tensor[key] for tensor in plan["tensors"].values()))]
            check(run[key] == total, f"{key} of the statement is not the sum over its tensors")


def run_example(folder, name, values, ranks, element_type):
    target, operands, subscripts = EXAMPLES[name]
    sizes = dict(pair.split("=") for pair in values.split())
    extents = EXTENT_OF.get(name, EXTENT)
    generator = numpy.random.default_rng(1)
    # All ranks are on this node, which plans do not know.
    arrays, arguments = [], [*params(values), "--shared-memory", "off" if len(values) % 3 == 0 else "on"]
    for operand, indices in zip(operands, re.split("[,+]", subscripts.split("->")[0])):
        array = random_array(generator, [int(sizes[extents[index]]) for index in indices], element_type)
        if operand in SPARSE.get(name, ""):
            array = numpy.where(generator.random(array.shape) < 0.1, array, 0).astype(array.dtype)
        numpy.save(f"{folder}/{operand}.npy", array)
        arrays.append(array)
    if ranks:
        arguments += ["-n", str(ranks)]
    with open(example(name), encoding="utf-8") as file:
        program = file.read().replace("f64", element_type)

    inputs = [word for operand in operands for word in ("--in", f"{operand}={folder}/{operand}.npy")]
    done = distal(["run", "-", *arguments, *inputs, "--out", f"{target}={folder}/out.npy", "--check",
                   "--stats=json"], text=program, environment={**OPTIMIZED, **_resident.environment()})
    counted = json.loads(done.stdout)
    if name not in SPARSE:  # what sparse tensors take is known when they are there
        same_figures(json.loads(distal(["plan", "-", *arguments, "--stats=json"], text=program).stdout), counted)
    verdict = counted["statements"][0]["check"]
    check(verdict["ok"] and verdict["max_rel_error"] <= verdict["tolerance"], f"its own check says {verdict}")
    magnitude = multiply(subscripts, [numpy.abs(array).astype("f8") for array in arrays])
    compare(numpy.load(f"{folder}/out.npy"), einsum(subscripts, arrays), magnitude, TOLERANCE[element_type])


def random_values(seed, count):
    """random:SEED as the contract has it."""
    with numpy.errstate(over="ignore"):
        p = numpy.arange(count, dtype=numpy.uint64)
        z = numpy.uint64(seed) + (p + numpy.uint64(1)) * numpy.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z ^= z >> numpy.uint64(31)
        return (z >> numpy.uint64(11)).astype("f8") * 2.0**-53


COPY = """
machine M = grid(2, 2)
tensor A(7, 5): TYPE
tensor B(7, 5): TYPE
place A(x, y) -> M(y, x)
place B(x, y) -> M(x, y)
A(i, j) = B(i, j)
"""


def test_generators(folder):
    position = numpy.arange(35, dtype="f8")
    half = random_values(3, 35)
    for source, element_type, expected in [
            ("zeros", "f64", 0 * position), ("ones", "f32", 0 * position + 1), ("iota", "f64", position),
            ("iota", "i32", position), ("const:-2.5", "f64", 0 * position - 2.5), ("const:7", "i64", 0 * position + 7),
            ("random:3", "f64", half), ("random:3", "f32", half.astype("f4")), ("random:3", "c128", half + 1j * random_values(3 + 2**32, 35)),
            ("random:3", "i32", numpy.floor(1024 * half)), ("random:18446744073709551615", "f64",
                                                           random_values(18446744073709551615, 35)),
            ("random:3:0.5", "f64", numpy.where(half < 0.5, random_values(4, 35), 0)),
            ("random:3:0.5", "c64",
             numpy.where(half < 0.5, random_values(4, 35) + 1j * random_values(4 + 2**32, 35), 0))]:
        distal(["run", "-e", COPY.replace("TYPE", element_type), "--in", f"B={source}", "--out",
                f"A={folder}/A.npy", "-q"], environment=_resident.environment())
        got = numpy.load(f"{folder}/A.npy")
        check(got.dtype == numpy.dtype(DTYPE[element_type]), f"{source}: type {got.dtype}")
        check((got == expected.reshape(7, 5).astype(got.dtype)).all(), f"{source} of type {element_type}: {got}")


def test_default_sources(folder):
    program = "tensor A(4): f64; tensor B(4): f64; tensor C(4): f64; A(i) = B(i) * C(i)"
    distal(["run", "-e", program, "--out", f"A={folder}/A.npy", "-q"])
    check((numpy.load(f"{folder}/A.npy") == random_values(1, 4) * random_values(2, 4)).all(), "not random:1 * random:2")
    distal(["run", "-e", program, "--in", "B=ones", "--out", f"A={folder}/A.npy", "-q"])
    check((numpy.load(f"{folder}/A.npy") == random_values(2, 4)).all(), "C does not stay random:2 where B is given")


def test_accumulation_counts_once(folder):
    program = "machine M = grid(3); tensor A(10): f64; tensor B(10, 6): f64; place A(x) -> M(x); A(i) += B(i, j)"
    distal(["run", "-e", program, "--in", "A=iota", "--in", "B=ones", "--repeat", "3", "--warmup", "2", "--check",
            "--out", f"A={folder}/A.npy", "-q"])
    check((numpy.load(f"{folder}/A.npy") == numpy.arange(10) + 6).all(), "the result is not that of one execution")


def test_statements_in_order(folder):
    program = """
param n = 6
machine M = grid(2)
tensor A(n, n): f64; tensor B(n, n): f64; tensor C(n, n): f64; tensor T(n, n): f64; tensor a: f64; tensor D(n): f64
place T(x, y) -> M(y)
place A(x, y) -> M(x)
T(i, j) = B(i, k) * C(k, j)
A(i, j) = T(j, i) - B(i, j)
D(i) = A(i, j)
a = D(i) * D(i)
"""
    done = distal(["run", "-e", program, "--in", "B=iota", "--in", "C=random:5", "--out", f"A={folder}/A.npy", "--check"])
    b, c = numpy.arange(36.0).reshape(6, 6), random_values(5, 36).reshape(6, 6)
    expected = (b @ c).T - b
    compare(numpy.load(f"{folder}/A.npy"), expected, numpy.abs(expected) + b @ c, 1e-13)
    check(done.stdout.startswith("a = ") and done.stdout.count("\n") == 1, f"standard output: {done.stdout!r}")
    check(abs(float(done.stdout[4:]) / (expected.sum(1) ** 2).sum() - 1) < 1e-12, f"{done.stdout!r}")
    check(done.stderr.count(": ok\n") == 4, f"standard error: {done.stderr!r}")


def test_long_programs(folder):
    """The collective calls of a run grow with its statements, and not faster."""
    calls, size, ranks = [], 5, 2
    for count in (10, 40, 160):
        lines = [f"tensor T{t}(n, n): f64; place T{t}(x, y) -> M(x)" for t in range(count + 1)]
        lines += [f"T{t + 1}(i, j) = T{t}(i, k) * T0(k, j)" for t in range(count)]
        program = "\n".join([f"param n = {size}", f"machine M = grid({ranks})", *lines])
        path = f"{folder}/calls.{count}"
        distal(["run", "-q", "-e", program, "--in", "T0=const:0.2", "--out", f"T{count}={folder}/{count}.npy"],
               environment={**preloaded("mpi_calls", os.environ.get("MPICC", "mpicc")), "MPI_CALLS": path})
        check(numpy.allclose(numpy.load(f"{folder}/{count}.npy"), 0.2, rtol=1e-12, atol=0), f"{count} statements: wrong result")
        with open(path, encoding="utf-8") as file:
            found = list(map(int, file))
        check(len(found) == ranks, f"counts of {len(found)} ranks")
        calls.append(max(found))
    each = (calls[1] - calls[0]) / 30
    check(0 < each < 50, f"{each} collectives for each statement")
    check(calls[2] - calls[1] <= 1.1 * 120 * each, f"collectives of 10, 40 and 160 statements: {calls}")


def test_tiles(folder):
    """Loops in blocks, several and the last ones short, beside a loop between them and rows on two ranks."""
    program = """
param n = 67, m = 531
machine M = grid(2)
tensor A(n, m): f64; tensor B(m, n): f64; tensor y(n): f64; tensor V(m, 3, n): f64; tensor W(3, m): f64
place A(x, y) -> M(x)
A(i, j) = B(j, i)
y(i) = A(i, j) * B(j, i)
A(i, j) += V(j, k, i) / W(k, j)
"""
    distal(["run", "-e", program, "--check"])


def test_loops_without_iterations(folder):
    """The third rank has no k, and so no elements of x and B either, which its outer loops would read."""
    program = """
param n = 4, q = 2
machine M = grid(3)
tensor A(n, q): f64; tensor x(n): f64; tensor z(q): f64; tensor B(n, n): f64
place A(i, k) -> M(k)
A(i, k) = x(i) / z(k)
z(k) += A(i, k) * x(i) / B(i, j)
"""
    distal(["run", "-e", program, "--check"], environment={"DISTAL_CFLAGS": "-O0"})
    # A has a home, though no iteration of j computes it.
    program = """
tensor A(1): f64, {compressed}; tensor B(0, 1): f64, {dense, compressed}
A(i) = B(j, i)
schedule A {
  reorder({j, i})
  communicate({A, B}, i)
}
"""
    distal(["run", "-e", program, "-n", "2", "--check"], environment={"DISTAL_CFLAGS": "-O0"})


def test_stats_as_text(folder):
    """What was measured, beside the table of the plan, on standard error."""
    cache = {"XDG_CACHE_HOME": f"{folder}/cache"}
    summa = ["run", example("summa"), "-p", "n=40", "--repeat", "3", "-q", "--stats"]
    for kernel in ("compiled in .* m?s", "from the cache"):
        shown = distal(summa, environment=cache).stderr
        check(re.search(f"^.*summa.distal on 4 ranks of 1 thread; .*; kernel {kernel}\n"
                        r"\d+ cores? and [\d.]+ .iB of free memory in a node; ranks are (not )?bound.*\nranks of a node read each other's parts of B, C\n(warning: .*\n)?"
                        r"\nA\(i, j\) = .*\n  128000 flop; at most \d+ B of memory in a rank\n"
                        r"  .*s \(fastest .*s, slowest .*s\), .* GFLOP/s\n", shown), shown)
        planned = distal(["plan", *summa[1:4], "--shared-memory", "on"]).stdout
        check(shown.splitlines()[-5:] == planned.splitlines()[-5:], f"{shown} beside {planned}")
    aside = distal(["run", "-e", "tensor a: f64; a = 1", "--stats=json"], environment={"XDG_CACHE_HOME": "/dev/null"})
    check(json.loads(aside.stdout)["compile_seconds"] > 0, aside.stdout)  # where the cache cannot be written
    added = ("tensor A(6, 6): f64, csr; tensor B(6, 6): f64, csr; tensor C(6, 6): f64, csr; A(i, j) = B(i, j) + C(i, j)")
    shown = distal(["run", "-e", added, "-q", "--stats"]).stderr
    check(re.search(r"s\)\n  before that, .*s for the structure of A\n", shown), shown)
    check("flop" not in shown and "FLOP" not in shown, shown)


def test_threads_of_the_blas(folder):
    """What the BLAS is, and what is wrong with it. One with threads of its own computes the same in parallel loops."""
    del folder
    program = """
param n = 20
tensor A(n, n, n, n): f64; tensor B(n, n, n, n): f64; tensor C(n, n, n, n): f64
A(a, b, i, j) = B(a, b, i, k) * C(a, b, k, j)
"""

    def stats(**environment):
        done = distal(["run", "-e", program, "--threads", "3", "--check", "--stats=json"], environment=environment)
        return json.loads(done.stdout)

    found = stats()
    if not re.fullmatch(r"OpenBLAS [\d.]+ for \w+ with(out)? threads.*", found["blas"]):
        return  # another library
    found = stats(OPENBLAS_CORETYPE="Prescott")
    with open("/proc/cpuinfo", encoding="ascii") as file:
        older = "avx2" in file.read() and " for Prescott " in found["blas"]
    check(not older or "takes this processor for an older one" in found["blas_warning"], f"{found}")
    for path in glob.glob("/usr/lib/*/openblas-pthread"):
        found = stats(LD_LIBRARY_PATH=path)
        check(found["blas"].endswith(" with threads of its own") and "the threads of the BLAS and" in found["blas_warning"],
              f"{found}")


def test_newer_processors(folder):
    """Where OpenBLAS does not know the processor, a run starts again and names one with the same instructions."""
    program = "machine M = grid(2); tensor A(9, 9): f64; tensor B(9, 9): f64; A(i, j) = B(i, k) * B(k, j)"
    with open("/proc/cpuinfo", encoding="ascii") as file:
        if " avx2 " not in file.read() or "OpenBLAS" not in distal(["run", "-e", program, "--stats"]).stderr:
            return
    unknown = preloaded("unknown_processor")
    environment = {"OPENBLAS_CORETYPE": None, **unknown}
    with open(f"{folder}/A.distal", "w", encoding="ascii") as file:
        file.write(program)
    for source, text in (["-e", program], None), ([f"{folder}/A.distal"], None), (["-"], program):
        for ranks in "1", "2":
            done = distal(["run", *source, "-n", ranks, "--check", "--stats=json"], text=text, environment=environment)
            found = json.loads(done.stdout)
            check(re.search(r" for (Haswell|SkylakeX) ", found["blas"]) and "blas_warning" not in found, f"{found}")
    linker = "/lib64/ld-linux-x86-64.so.2"
    if os.path.exists(linker):  # a command can be started as an argument of the dynamic linker
        done = subprocess.run([linker, DISTAL, "run", "-e", program, "-n", "2"], env={**os.environ, **unknown},
                              capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
        check(done.returncode == 0, done.stderr)
    chosen = distal(["run", "-e", program, "--stats=json"], environment={**unknown, "OPENBLAS_CORETYPE": "Prescott"})
    check("set OPENBLAS_CORETYPE=" in json.loads(chosen.stdout)["blas_warning"], chosen.stdout)


def test_results_without_elements(folder):
    """Loops over other modes of the result, around the one that has no iteration, would not end in time."""
    del folder
    program = """
param n = 1000000, q = 0
tensor A(n, n, 3, q): f32; tensor B(3): f32
A(i, j, k, l) = sqrt(abs(B(k))) * sqrt(abs(B(k)))
schedule A {
  precompute(sqrt(abs(B(k))), {}, {}, W)
}
"""
    distal(["run", "-e", program, "-n", "1"])


def test_own_launcher(folder):
    """Under mpirun the command starts nothing, and reads its program once."""
    with open(example("summa"), encoding="utf-8") as file:
        program = file.read()
    words = os.environ.get("DISTAL_MPIRUN", "mpirun").split()
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    done = subprocess.run([*words, "-n", "2", DISTAL, "run", "-", "-p", "n=30", "--out", f"A={folder}/A.npy",
                           "--stats=json"], input=program, text=True, capture_output=True, env=environment,
                          timeout=LIMIT_SECONDS, check=False)
    check(done.returncode == 0, done.stderr)
    check(json.loads(done.stdout)["ranks"] == 2, "not on the launcher's ranks")
    b, c = (random_values(seed, 900).reshape(30, 30) for seed in (1, 2))
    compare(numpy.load(f"{folder}/A.npy"), b @ c, b @ c, 1e-13)


def test_another_launcher(folder):
    """DISTAL_MPIRUN with options of its own."""
    launcher = f"{folder}/launcher"
    with open(launcher, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\necho "$1 $2 $3" > {folder}/seen\nshift\nexec mpirun "$@"\n')
    os.chmod(launcher, 0o755)
    distal(["run", example("innerprod"), "-p", "n=5"], environment={"DISTAL_MPIRUN": f"{launcher} --mine"})
    with open(f"{folder}/seen", encoding="utf-8") as file:
        check(file.read() == "--mine -n 4\n", "the launcher was not called as it should be")


def test_wrong_result_fails(folder):
    """A compiler that gets it wrong: the check says so, the exit status is 1, and nothing is written."""
    compiler = f"{folder}/cc"
    with open(compiler, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\nfor word; do case $word in *.c) sed -i "s/\\* c\\[/* 1.0001 * c[/" "$word";; esac\n'
                   'done\nexec cc "$@"\n')
    os.chmod(compiler, 0o755)
    done = distal(["run", example("adapted"), "-p", "n=50", "--check", "--out", f"A={folder}/A.npy", "--stats=json"],
                  status=1, environment={"DISTAL_CC": compiler, "XDG_CACHE_HOME": f"{folder}/cache"})
    verdict = json.loads(done.stdout)["statements"][0]["check"]
    check(not verdict["ok"] and 5e-5 < verdict["max_rel_error"] < 2e-4, f"{verdict}")
    check("FAILED" in done.stderr and len(done.stderr.splitlines()) == 1, f"standard error: {done.stderr!r}")
    check(not os.path.exists(f"{folder}/A.npy"), "the wrong result was written")


def test_failures_are_one_message(folder):
    """One line on standard error, whatever the number of ranks."""
    numpy.save(f"{folder}/small.npy", numpy.zeros((3, 3)))
    summa = ["run", example("summa"), "-p", "n=40"]
    for arguments, status, message in [
            ([*summa, "--in", f"B={folder}/none.npy"], 1, "No such file"),
            ([*summa, "--in", f"B={folder}/small.npy"], 1, "(3, 3)"),
            ([*summa, "--out", f"A={folder}/none/A.npy"], 1, "No such file"),
            ([*summa, "--in", "A=ones"], 2, "'A' is not an input"),
            ([*summa, "--in", "X=ones"], 2, "no tensor 'X'"),
            ([*summa, "--out", f"A={folder}/A.txt"], 2, ".npy")]:
        done = distal(arguments, status=status)
        check(message in done.stderr and len(done.stderr.splitlines()) == 1, f"standard error: {done.stderr!r}")
        check(done.stdout == "", f"standard output: {done.stdout!r}")


def test_lack_of_memory(folder):
    """Refused before anything is computed, by what is free and by the user's limit, and with what would fit."""
    summa = ["run", example("summa"), "--out", f"A={folder}/A.npy"]
    with open("/proc/meminfo", encoding="ascii") as file:
        available = 1024 * next(int(line.split()[1]) for line in file if line.startswith("MemAvailable"))
    too_large = math.isqrt(4 * available // (3 * 8))  # three matrices of doubles take four times what is free
    for arguments, message, advice in [
            (["-p", f"n={too_large}", "-p", "chunk=2000"], "not enough memory: the ranks of this node need ", "still 4 on each node"),
            (["-p", "chunk=1024", "--memory-limit", "8M"], "rank 0 needs 14.0 MiB", "with -p chunk=256, no rank"),
            (["--memory-limit", "8192K", "--check"], "rank 0 needs 32.0 MiB", "without --check, no rank")]:
        done = distal([*summa, *arguments], status=1)
        lines = done.stderr.splitlines()
        check(lines[0].startswith("distal: error: ") and message in lines[0], f"standard error: {done.stderr!r}")
        check(all(line.startswith("distal: note: ") for line in lines[1:]), f"standard error: {done.stderr!r}")
        check("A " in lines[1] and "at home" in lines[1] and advice in done.stderr, f"standard error: {done.stderr!r}")
        check(done.stdout == "" and not os.path.exists(f"{folder}/A.npy"), "something was made")
    distal([*summa, "-p", "chunk=256", "--memory-limit", "8M", "-q"])
    check(os.path.exists(f"{folder}/A.npy"), "what fits does not run")
    environment = {"DISTAL_MPIRUN": f"{folder}/no-such-launcher"}
    distal([*summa, "--memory-limit", "1M"], status=1, environment=environment)


def long_run(folder, ranks=4):
    return subprocess.Popen([DISTAL, "run", example("summa"), "-p", f"gx={ranks // 2}", "-p", "n=2000", "--repeat", "1000"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "DISTAL_TEST": folder})


def test_killed_rank_ends_the_run(folder):
    process = long_run(folder)
    check(wait_for(lambda: len(ranks_of_run(folder)) == 4, 20), "four ranks did not start")
    time.sleep(1)
    os.kill(ranks_of_run(folder)[2], signal.SIGKILL)
    start = time.monotonic()
    output, message = process.communicate(timeout=LIMIT_SECONDS)
    check(process.returncode == 1, f"exit status {process.returncode}")
    check(output == "", f"standard output: {output!r}")
    check(time.monotonic() - start < 10, f"it took {time.monotonic() - start:.1f} s to end")
    check("the run was ended: a process got signal 9" in message, f"standard error: {message!r}")
    check(wait_for(lambda: not ranks_of_run(folder), 5), "ranks are left behind")


def test_signals_end_all_ranks(folder):
    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        process = long_run(folder)
        check(wait_for(lambda: len(ranks_of_run(folder)) == 4, 20), "four ranks did not start")
        process.send_signal(kind)
        _, message = process.communicate(timeout=LIMIT_SECONDS)
        check(process.returncode == -kind, f"exit status {process.returncode} after {kind.name}: {message!r}")
        check(wait_for(lambda: not ranks_of_run(folder), 10), f"ranks are left behind after {kind.name}")


def processes_of_run(token):
    """Ids of all processes whose environment holds the token, launchers too."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                if f"DISTAL_TEST={token}".encode() in file.read().split(b"\0"):
                    found.append(int(process))
        except OSError:
            continue
    return found


def interrupt_launch(folder, arguments, kind, ready, environment):
    """Interrupts a run when `ready` of its processes are there; it has to end in seconds and leave none."""
    process = subprocess.Popen([DISTAL, "run", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**os.environ, **environment, "DISTAL_TEST": folder})
    check(wait_for(lambda: len(processes_of_run(folder)) >= ready, 20), f"{ready} processes did not start")
    start = time.monotonic()
    process.send_signal(kind)
    output, message = process.communicate(timeout=LIMIT_SECONDS)
    seconds = time.monotonic() - start
    check(process.returncode == -kind, f"exit status {process.returncode} after {kind.name}: {message!r}")
    check(output == b"", f"standard output: {output!r}")
    check(seconds < 15, f"it took {seconds:.1f} s to end")
    check(not processes_of_run(folder), f"processes are left behind: {processes_of_run(folder)}")


def test_interrupted_launch(folder):
    """While mpirun still starts ranks, when it may miss a signal."""
    many = [example("summa"), "-p", "gx=6", "-p", "gy=4", "--oversubscribe"]
    for kind, ready in ((signal.SIGTERM, 2), (signal.SIGINT, 8), (signal.SIGTERM, 16)):
        interrupt_launch(folder, many, kind, ready, {})


def test_interrupted_before_the_launch(folder):
    """When there is a process that supervises the launcher, which it has not started."""
    slow = preloaded("slow_supervisor")
    for kind in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        interrupt_launch(folder, [example("innerprod")], kind, 2, slow)


def test_interrupted_launcher_that_ignores_signals(folder):
    """A launcher that ignores signals, and so do the processes that it has put into sessions of their own."""
    launcher = f"{folder}/launcher"
    with open(launcher, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\ntrap '' TERM INT HUP\nfor i in 1 2 3; do setsid sh -c 'sleep 1000; true' & done\n"
                   "wait\n")
    os.chmod(launcher, 0o755)
    for kind in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        interrupt_launch(folder, [example("innerprod")], kind, 8, {"DISTAL_MPIRUN": launcher})


def test_launcher_that_is_killed(folder):
    """What it has started ends with it."""
    process = long_run(folder)
    check(wait_for(lambda: len(ranks_of_run(folder)) == 4, 20), "four ranks did not start")
    with open(f"/proc/{ranks_of_run(folder)[0]}/stat", encoding="ascii") as file:
        launcher = int(file.read().rsplit(")", 1)[1].split()[1])
    os.kill(launcher, signal.SIGKILL)
    _, message = process.communicate(timeout=LIMIT_SECONDS)
    check(process.returncode == 1, f"exit status {process.returncode}")
    check("got signal 9" in message, f"standard error: {message!r}")
    check(not processes_of_run(folder), f"processes are left behind: {processes_of_run(folder)}")


def test_too_many_processes(folder):
    """More than 16 a core are refused before anything is started; a number that the message names runs."""
    cores = len(os.sched_getaffinity(0))
    program = f"param g = {16 * cores + 1}; machine M = grid(g, 6); tensor A(7): f64; place A(x) -> M(x, *); A(i) = 2"
    launcher = {"DISTAL_MPIRUN": f"{folder}/none"}
    done = distal(["run", "-e", program], status=2, environment=launcher)
    ranks = 6 * (16 * cores + 1)
    check(f"error: {ranks} processes are too many for {cores} core" in done.stderr, done.stderr)
    fewer = int(re.search(r"note: -n (\d+) runs", done.stderr).group(1))
    check(1 <= fewer <= cores and ranks % fewer == 0, done.stderr)
    distal(["run", "-e", program, "-n", str(fewer), "--check"])
    distal(["run", "-e", program, "-n", str(ranks // 6 * 3)], status=2, environment=launcher)
    done = distal(["run", "-e", program, "--oversubscribe"], status=1, environment=launcher)
    check("cannot start" in done.stderr, done.stderr)


def expand(units):
    """The numbers of a list such as 0-3,8."""
    result = set()
    for part in units.split(","):
        first, _, last = part.partition("-")
        result |= set(range(int(first), int(last or first) + 1))
    return result


def affinities(process):
    """Of all threads of a process."""
    result = []
    for task in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{task}/status", encoding="ascii") as file:
            result.append(expand(next(line.split()[1] for line in file if line.startswith("Cpus_allowed_list"))))
    return result


def test_many_runs_at_once(_):
    """Processes that run alone do not meet in the temporary folder of MPI."""
    for _ in range(8):
        runs = [subprocess.Popen([DISTAL, "run", "-e", "tensor a: f64; a = 3"], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True) for _ in range(8)]
        for run in runs:
            output, message = run.communicate(timeout=LIMIT_SECONDS)
            check(run.returncode == 0 and output == "a = 3\n", message)


def test_binding(folder):
    """Ranks have cores of their own where there are enough, unless the user says how they are bound."""
    usable = os.sched_getaffinity(0)
    single, cores = f"{min(usable)}", len(usable)
    small = [example("summa"), "-p", "n=40", "--stats=json"]

    def stats(ranks, environment):
        arguments = ["run", *small, "-p", f"gx={ranks}", "-p", "gy=1"]
        return json.loads(distal(arguments, environment=environment).stdout)

    for ranks in (1, 2, 3):
        found = stats(ranks, {})
        units = [expand(text) for text in found["processing_units"]]
        check(len(units) == ranks and set().union(*units) <= usable, f"{found}")
        check(1 <= found["cores"] <= cores and found["memory_bytes"] > 0, f"{found}")
        is_bound = 1 < ranks <= found["cores"]
        check((found["binding"] == "distal") == is_bound, f"{ranks} ranks on {found['cores']} cores: {found['binding']}")
        check(all(not units[r] & units[q] for r in range(ranks) for q in range(r)) == (is_bound or ranks == 1), f"{units}")
        check(found["threads"] >= found["cores"] // ranks, f"{found['threads']} threads")
    for environment in ({"OMP_PROC_BIND": "false"}, {"OMPI_MCA_hwloc_base_binding_policy": "none"},
                        {"DISTAL_MPIRUN": "mpirun --bind-to none"}):
        found = stats(2, environment)
        check(found["binding"] == "none" and found["processing_units"][0] == found["processing_units"][1], f"{found}")
    # A machine that is not this one: what would be done on it.
    found = stats(4, {"HWLOC_SYNTHETIC": "pack:2 core:6 pu:2", "HWLOC_COMPONENTS": None})
    check((found["cores"], found["threads"], found["binding"]) == (12, 3, "distal"), f"{found}")
    check(found["processing_units"] == ["0-5", "6-11", "12-17", "18-23"], f"{found['processing_units']}")
    done = subprocess.run(["taskset", "-c", single, DISTAL, "run", *small, "-p", "gx=2", "-p", "gy=1"], check=False,
                          capture_output=True, text=True, timeout=LIMIT_SECONDS)
    found = json.loads(done.stdout)
    check(found["cores"] == 1 and found["processing_units"] == [single, single] and found["binding"] != "distal", f"{found}")
    # All threads of a rank, those of libraries too.
    process = long_run(folder, 2)
    check(wait_for(lambda: len(ranks_of_run(folder)) == 2, 20), "two ranks did not start")

    def are_apart():
        sets = [affinities(ranks_of_run(folder)[rank]) for rank in (0, 1)]
        return all(threads == [threads[0]] * len(threads) for threads in sets) and not sets[0][0] & sets[1][0]

    apart = stats(1, {})["cores"] < 2 or wait_for(are_apart, 20)
    process.terminate()
    process.communicate(timeout=LIMIT_SECONDS)
    check(apart, "threads of two ranks may use the same cores")


def main():
    cases = functions_named_test("e2e", globals())
    for name, values, ranks, element_type in RUNS:
        title = f"e2e/{name} {values}{f' on {ranks} ranks' if ranks else ''} {element_type}"
        cases.append((title, lambda folder, case=(name, values, ranks, element_type): run_example(folder, *case)))
    return run_cases(cases)


if __name__ == "__main__":
    sys.exit(main())
