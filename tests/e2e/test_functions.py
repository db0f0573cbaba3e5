#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Element-wise functions compared with NumPy's: every function in every type, inside sums, on one and several ranks.

Prints `ok NAME` or `FAIL NAME: why` for each case."""
import sys

import numpy

from _common import DTYPE, check, distal, example, functions_named_test, params, run_cases

N, M = 13, 11

# Type of the result, statement, and the same in NumPy: B and C are N x M, c has M elements, all of the type named
# first; the result has the shape of what NumPy makes.
CASES = [
    ("f64", "f64", "A(i, j) = sqrt(B(i, j)) + log(C(i, j)) * 2", lambda B, C, c: numpy.sqrt(B) + numpy.log(C) * 2),
    ("f32", "f32", "A(i, j) = pow(B(i, j), 2.5) - exp(-C(i, j))", lambda B, C, c: B**2.5 - numpy.exp(-C)),
    ("f64", "f64", "A(i) = max(B(i, j), 0.5) * min(c(j), C(i, j))",
     lambda B, C, c: (numpy.maximum(B, 0.5) * numpy.minimum(c, C)).sum(1)),
    ("f64", "f64", "A(i) = pow(B(i, j) - c(j), 2)", lambda B, C, c: ((B - c)**2).sum(1)),
    ("f64", "f64", "A = log(exp(C(i, j)) + exp(B(i, j)))", lambda B, C, c: numpy.log(numpy.exp(C) + numpy.exp(B)).sum()),
    ("f64", "f64", "A(i) = 1 + sqrt(2) * abs(B(i, j) - C(i, j)) + c(k)",
     lambda B, C, c: 1 + (numpy.sqrt(2) * numpy.abs(B - C)).sum(1) + c.sum()),
    ("f64", "f64", "A(j, i) = sqrt(B(i, j) - 0.5)", lambda B, C, c: numpy.sqrt(B - 0.5).T),
    ("i32", "i32", "A(i, j) = max(B(i, j) - 500, -7) * abs(C(i, j) - 512)",
     lambda B, C, c: numpy.maximum(B - 500, -7) * numpy.abs(C - 512)),
    ("i64", "i64", "A(i) = min(B(i, j), c(j))", lambda B, C, c: numpy.minimum(B, c).sum(1)),
    ("i32", "f64", "A(i, j) = sqrt(B(i, j)) * log(C(i, j) + 1) + pow(2, c(j) / 512)",
     lambda B, C, c: numpy.sqrt(B) * numpy.log(C + 1) + 2.0**(c / 512)),
    ("c64", "c64", "A(i, j) = sqrt(B(i, j)) * exp(C(i, j)) + pow(B(i, j), 3)",
     lambda B, C, c: numpy.sqrt(B) * numpy.exp(C) + B**3),
    ("c128", "c128", "A(i) = log(B(i, j)) * pow(c(j), C(i, j))", lambda B, C, c: (numpy.log(B) * c**C).sum(1)),
    ("c64", "f32", "A(i) = abs(B(i, j)) * abs(c(j))", lambda B, C, c: (numpy.abs(B) * numpy.abs(c)).sum(1)),
    ("c128", "f64", "A = abs(B(i, j) * C(i, j)) * abs(B(i, j) - C(i, j))",
     lambda B, C, c: (numpy.abs(B * C) * numpy.abs(B - C)).sum()),
    ("c128", "f64", "A(i, j) = max(abs(B(i, j)), abs(C(i, j))) - sqrt(abs(c(j)))",
     lambda B, C, c: numpy.maximum(numpy.abs(B), numpy.abs(C)) - numpy.sqrt(numpy.abs(c))),
]
PLACES = [("", 1), ("machine G = grid(3); place B(x, y) -> G(x); place C(x, y) -> G(y)", 3),
          ("machine G = grid(2, 2); place B(x, y) -> G(x, y); place C(x, y) -> G(0, x); place c(x) -> G(x, *)", 4)]


def save(folder, arrays):
    for name, array in arrays.items():
        numpy.save(f"{folder}/{name}.npy", array)
    return [word for name in arrays for word in ("--in", f"{name}={folder}/{name}.npy")]


def close(got, expected, dtype):
    check(got.shape == expected.shape, f"shape {got.shape}, expected {expected.shape}")
    if numpy.dtype(dtype).kind == "i":
        check((got == expected).all(), "integers differ")
        return
    tolerance = 2e-5 if dtype in ("f4", "c8") else 1e-12
    equal = numpy.isclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    check(equal.all(), f"{numpy.count_nonzero(~equal)} elements differ: {got[~equal]} instead of {expected[~equal]}")


def inputs(kind):
    generator = numpy.random.default_rng(4)
    arrays = {}
    for name, shape in {"B": (N, M), "C": (N, M), "c": (M,)}.items():
        if kind[0] == "i":
            arrays[name] = generator.integers(0, 1024, shape).astype(DTYPE[kind])
        else:
            array = generator.random(shape) + (0.1 if kind[0] == "f" else 1j * (generator.random(shape) - 0.5))
            arrays[name] = array.astype(DTYPE[kind])
    return arrays


def run_case(folder, kind, result, statement, expected, places, ranks):
    arrays = inputs(kind)
    with numpy.errstate(invalid="ignore"):
        wide = {"i": "i8", "f": "f8", "c": "c16"}[kind[0]]
        values = numpy.asarray(expected(**{name: array.astype(wide) for name, array in arrays.items()}))
    extents = f"({', '.join(map(str, values.shape))})" if values.shape else ""
    program = (f"tensor A{extents}: {result}; tensor B({N}, {M}): {kind}; tensor C({N}, {M}): {kind}; "
               f"tensor c({M}): {kind}; {places}; {statement}")
    given = save(folder, {name: array for name, array in arrays.items() if f"{name}(" in statement})
    used = "; ".join(part for part in program.split("; ") if not part.startswith("place ")
                     or f"{part[6]}(" in statement)
    distal(["run", "-e", used, "-n", str(ranks), *given, "--check", "-q", "--out", f"A={folder}/A.npy"])
    close(numpy.load(f"{folder}/A.npy"), values, DTYPE[result])


def test_not_a_number_stays(folder):
    """As NumPy's minimum and maximum; and what has no real value is not a number."""
    nan, inf = numpy.nan, numpy.inf
    b = numpy.array([nan, 1.0, nan, -inf, 2.0, -4.0])
    c = numpy.array([1.0, nan, nan, 3.0, inf, 0.0])
    given = save(folder, {"b": b, "c": c})
    declarations = "tensor A(6): f64; tensor b(6): f64; tensor c(6): f64; "
    for statement, expected in [("A(i) = min(b(i), c(i))", numpy.minimum(b, c)),
                                ("A(i) = max(b(i), c(i))", numpy.maximum(b, c))]:
        distal(["run", "-e", declarations + statement, *given, "--check", "-q", "--out", f"A={folder}/A.npy"])
        close(numpy.load(f"{folder}/A.npy"), expected, "f8")
    distal(["run", "-e", "tensor A(6): f64; tensor b(6): f64; A(i) = sqrt(b(i))", *given[:2], "--check", "-q",
            "--out", f"A={folder}/A.npy"])
    with numpy.errstate(invalid="ignore"):
        close(numpy.load(f"{folder}/A.npy"), numpy.sqrt(b), "f8")


def test_softmax(folder):
    b = numpy.random.default_rng(2).standard_normal((37, 23))
    distal(["run", example("softmax"), *params("n=37 m=23 p=3"), *save(folder, {"B": b}),
            "--check", "-q", "--out", f"A={folder}/A.npy"])
    expected = numpy.exp(b)
    close(numpy.load(f"{folder}/A.npy"), expected / expected.sum(1, keepdims=True), "f8")


def main():
    cases = functions_named_test("functions", globals())
    for number, (kind, result, statement, expected) in enumerate(CASES):
        places, ranks = PLACES[number % len(PLACES)]
        cases.append((f"functions/{kind}: {statement} on {ranks}",
                      lambda folder, case=(kind, result, statement, expected, places, ranks): run_case(folder, *case)))
    return run_cases(cases)


if __name__ == "__main__":
    sys.exit(main())
