#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Element-wise functions and explicit reductions compared with NumPy's: in every type, on one and several ranks, and on GPUs.

Prints `ok NAME` or `FAIL NAME: why` for each case."""
import math
import os
import re
import sys

import numpy

from _common import DTYPE, check, distal, example, functions_named_test, once, params, run_cases, stay

N, M = 13, 11

# Type of the result, statement, and the same in NumPy: B and C are N x M, c has M elements, all of the type named
# first; the result has the shape of what NumPy makes.
CASES = [
    ("f64", "f64", "A(i, j) = sqrt(B(i, j)) + log(C(i, j)) * 2", lambda B, C, c: numpy.sqrt(B) + numpy.log(C) * 2),
    ("f32", "f32", "A(i, j) = pow(B(i, j), 2.5) - exp(-C(i, j))", lambda B, C, c: B**2.5 - numpy.exp(-C)),
    ("f64", "f64", "A(i, j) = sin(B(i, j)) * cos(7 * C(i, j)) + tanh(B(i, j) - C(i, j))",
     lambda B, C, c: numpy.sin(B) * numpy.cos(7 * C) + numpy.tanh(B - C)),
    ("f32", "f32", "A(i) = erf(B(i, j)) - sin(c(j))", lambda B, C, c: (numpy.vectorize(math.erf)(B) - numpy.sin(c)).sum(1)),
    ("i32", "f64", "A(i, j) = tanh(B(i, j) / 1024) * cos(C(i, j))", lambda B, C, c: numpy.tanh(B / 1024) * numpy.cos(C)),
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
    ("c128", "f64", "A(i) = real(conj(B(i, j)) * c(j)) - imag(C(i, j) * (2i + 1))",
     lambda B, C, c: ((B.conj() * c).real - (C * (2j + 1)).imag).sum(1)),
    ("c64", "c64", "A(i, j) = conj(B(i, j)) * 0.5i + C(i, j)", lambda B, C, c: B.conj() * 0.5j + C),
    ("f32", "c64", "A(i, j) = exp(2i * B(i, j)) + conj(C(i, j)) * imag(c(j))", lambda B, C, c: numpy.exp(2j * B)),
    ("c128", "f64", "A(i, j) = max(abs(B(i, j)), abs(C(i, j))) - sqrt(abs(c(j)))",
     lambda B, C, c: numpy.maximum(numpy.abs(B), numpy.abs(C)) - numpy.sqrt(numpy.abs(c))),
    # Variance, softmax, the logarithm of a sum of exponentials; variables of reductions are their own.
    ("f64", "f64", "A = sum({i, j}, (B(i, j) - 0.5) * (B(i, j) - 0.5)) / 143", lambda B, C, c: ((B - 0.5)**2).mean()),
    ("f64", "f64", "A(i, k) = exp(B(i, k) - max({j}, B(i, j))) / sum({j}, exp(B(i, j) - max({k}, B(i, k))))",
     lambda B, C, c: softmax(B)),
    ("f64", "f64", "A(i) = max({j}, 900 * B(i, j)) + log(sum({j}, exp(900 * B(i, j) - max({j}, 900 * B(i, j)))))",
     lambda B, C, c: numpy.logaddexp.reduce(900 * B, 1)),
    ("f32", "f32", "A = max({i, j}, abs(B(i, j) - C(i, j)))", lambda B, C, c: numpy.abs(B - C).max()),
    ("i32", "i32", "A(j) = min({i}, B(i, j) - C(i, j)) * 2", lambda B, C, c: (B - C).min(0) * 2),
    ("i64", "i64", "A(i) = prod({j}, 1 + C(i, j))", lambda B, C, c: (1 + C).prod(1)),
    ("i64", "i64", "A(i) = max({j}, C(i, j)) - min({j}, C(i, j))", lambda B, C, c: C.max(1) - C.min(1)),
    ("c128", "c128", "A(i) = prod({j}, B(i, j)) * sum({j}, c(j))", lambda B, C, c: B.prod(1) * c.sum()),
    ("c64", "f32", "A(j) = max({i}, abs(B(i, j)))", lambda B, C, c: numpy.abs(B).max(0)),
    ("c128", "c128", "A(i) = sum({j}, 2i * B(i, j)) * sum({j}, 2.0 * B(i, j)) + max({j}, imag(C(i, j)) * real(c(j)))",
     lambda B, C, c: 4j * B.sum(1)**2 + (C.imag * c.real).max(1)),
    ("c64", "c64", "A(i, j) = conj(C(i, j)) / sum({i}, real(conj(C(i, j)) * C(i, j)))",
     lambda B, C, c: C.conj() / (numpy.abs(C)**2).sum(0)),
    ("f64", "f64", "A(i) = B(i, j) * sum({j}, c(j)) - prod({j}, c(j))",
     lambda B, C, c: B.sum(1) * c.sum() - c.prod()),
    ("f64", "f64", "A(j, i) = C(i, j) / max({i, j}, B(i, j)) * min({k}, c(k))",
     lambda B, C, c: C.T / B.max() * c.min()),
    ("f64", "f64", "A = max({j}, B(i, j))", lambda B, C, c: B.max(1).sum()),
]
PLACES = [("", 1), ("machine G = grid(3); place B(x, y) -> G(x); place C(x, y) -> G(y)", 3),
          ("machine G = grid(2, 2); place B(x, y) -> G(x, y); place C(x, y) -> G(0, x); place c(x) -> G(x, *)", 4),
          ("machine G = grid(2); place B(x, y) -> G(x) in gpu; place C(x, y) -> G(y) in gpu", 2)]


def softmax(rows):
    powers = numpy.exp(rows - rows.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


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


def run_together(folder, cases, places, ranks):
    """Cases on the same machine in one program, the tensors of each with its number in their names: what is got and
    expected of each."""
    machine, *placed = places.split("; ")
    program, options, expected = machine + "\n", [], []
    for number, (kind, result, statement, value) in enumerate(cases):
        arrays = inputs(kind)
        with numpy.errstate(invalid="ignore"):
            wide = {"i": "i8", "f": "f8", "c": "c16"}[kind[0]]
            expected.append(numpy.asarray(value(**{name: array.astype(wide) for name, array in arrays.items()})))
        extents = f"({', '.join(map(str, expected[-1].shape))})" if expected[-1].shape else ""
        used = {name: array for name, array in arrays.items() if f"{name}(" in statement}
        lines = [f"tensor A{extents}: {result}"]
        lines += [f"tensor {name}({', '.join(map(str, array.shape))}): {kind}" for name, array in used.items()]
        lines += [part for part in placed if part[6] in used] + [statement]
        program += re.sub(r"\b([ABCc])\b", rf"\g<1>{number}", "\n".join(lines)) + "\n"
        options += save(folder, {f"{name}{number}": array for name, array in used.items()})
        options += ["--out", f"A{number}={folder}/A{number}.npy"]
    distal(["run", "-e", program, "-n", str(ranks), *options, "--check", "-q"],
           environment={"DISTAL_GPU": os.environ.get("DISTAL_GPU", "emulated")})
    return [(numpy.load(f"{folder}/A{number}.npy"), value) for number, value in enumerate(expected)]


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
    b = 1000 * numpy.random.default_rng(2).standard_normal((37, 23))  # whose exponentials overflow
    distal(["run", example("softmax"), *params("n=37 m=23 p=3"), *save(folder, {"B": b}),
            "--check", "-q", "--out", f"A={folder}/A.npy"])
    close(numpy.load(f"{folder}/A.npy"), softmax(b), "f8")


def test_accumulation(folder):
    """`max=`, `min=` and `*=` count the old values; an old NaN stays. Nothing to reduce gives the identity."""
    old = numpy.array([0.5, -numpy.inf, numpy.nan, 100.0])
    b = numpy.random.default_rng(5).standard_normal((4, 9))
    given = save(folder, {"A": old, "B": b})
    for places, ranks in [("", 1), ("machine G = grid(3); place A(x) -> G(x); place B(x, y) -> G(y)", 3)]:
        for mark, expected in [("max=", numpy.maximum(old, b.max(1))), ("min=", numpy.minimum(old, b.min(1))),
                               ("*=", old * b.prod(1))]:
            distal(["run", "-e", f"tensor A(4): f64; tensor B(4, 9): f64; {places}; A(i) {mark} B(i, j)", "-n", str(ranks),
                    *given, "--check", "-q", "--out", f"A={folder}/out.npy"])
            close(numpy.load(f"{folder}/out.npy"), expected, "f8")
    for reduction, expected in [("sum", 0), ("prod", 1), ("max", -2**31), ("min", 2**31 - 1)]:
        done = distal(["run", "-e", f"tensor v: i32; tensor B(4, 0): i32; v = {reduction}({{i, j}}, B(i, j))", "--check", "-q"])
        check(done.stdout == f"v = {expected}\n", done.stdout)


def test_sparse(folder):
    """Elements that are not stored count as zero, also where parts of a row are on several ranks."""
    generator = numpy.random.default_rng(6)
    b = -1 - generator.random((12, 9))
    b[2:, :][generator.random((10, 9)) < 0.4] = 0
    b[4] = 0
    c = generator.standard_normal(9)
    expected = {"u": ("max({j}, B(i, j))", b.max(1)), "v": ("min({j}, -B(i, j))", (-b).min(1)),
                "w": ("prod({j}, B(i, j))", b.prod(1)), "x": ("max({j}, B(i, j) * c(j))", (b * c).max(1)),
                "y": ("sum({j}, B(i, j))", b.sum(1))}
    tensors = "".join(f"tensor {name}(12): f64; " for name in expected)
    statements = "; ".join(f"{name}(i) = {text}" for name, (text, _) in expected.items())
    out = [word for name in expected for word in ("--out", f"{name}={folder}/{name}.npy")]
    for levels, ranks, place in [("csr", 3, "B(x, y) -> M(~fuse(x, y))"), ("csc", 2, "B(x, y) -> M(y)"), ("coo", 1, "B(x, y) -> M(x)"),
                                 ("dcsr", 2, "B(x, y) -> M(weighted(x))"), ("{bitmap, compressed}", 2, "u(x) -> M(*)")]:
        distal(["run", "-e", f"machine M = grid({ranks}); tensor B(12, 9): f64, {levels}; tensor c(9): f64; {tensors}"
                f"place {place}; {statements}", "-n", str(ranks), *save(folder, {"B": b, "c": c}), "--check", "-q", *out])
        for name, (_, values) in expected.items():
            close(numpy.load(f"{folder}/{name}.npy"), values, "f8")


def main():
    stay()
    cases = functions_named_test("functions", globals())
    for first, (places, ranks) in enumerate(PLACES):
        chosen = CASES[first::len(PLACES)]
        results = once(lambda folder, of=(chosen, places, ranks): run_together(folder, *of))
        for number, (kind, result, statement, _) in enumerate(chosen):
            cases.append((f"functions/{kind}: {statement} on {ranks}", lambda _, number=number, result=result, results=results:
                          close(*results()[number], DTYPE[result])))
    return run_cases(cases)


if __name__ == "__main__":
    sys.exit(main())
