#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Repetitions compared with NumPy: conjugate gradients, Jacobi, PageRank and power iteration, how many rounds they
take, and figures of all executions against those of the plan.

Prints `ok NAME` or `FAIL NAME: why` for each case."""
import json
import re
import sys

import numpy

from _common import check, distal, example, functions_named_test, params, run_cases, stay

RANKS = (1, 2, 3, 4, 6)


def save(folder, **arrays):
    words = []
    for name, array in arrays.items():
        numpy.save(f"{folder}/{name}.npy", array)
        words += ["--in", f"{name}={folder}/{name}.npy"]
    return words


def rounds_of(done):
    return [int(count) for count in re.findall(r"^repeat .*: (\d+) round", done.stderr, re.MULTILINE)]


def close(got, expected, tolerance=1e-9):
    error = numpy.abs(got - expected).max() / numpy.abs(expected).max()
    check(error <= tolerance, f"differs by {error:g}")


def symmetric(n):
    generator = numpy.random.default_rng(n)
    matrix = numpy.where(generator.random((n, n)) < 0.2, generator.random((n, n)), 0)
    return matrix + matrix.T + n / 3 * numpy.eye(n), generator.random(n)


def conjugate_gradients(matrix, right, steps, limit):
    x, r, d = numpy.zeros(len(right)), right.copy(), right.copy()
    rr = r @ r
    for step in range(1, steps + 1):
        q = matrix @ d
        x += rr / (d @ q) * d
        r -= rr / (d @ q) * q
        new = r @ r
        d, rr = r + new / rr * d, new
        if numpy.sqrt(rr) < limit:
            break
    return x, step


def test_complex_condition(_):
    """The value of a condition is real, its scalars need not be."""
    for condition, value in (("abs(z)", abs), ("real(z)", numpy.real), ("abs(z * conj(z)) + imag(z)", lambda z: abs(z) ** 2 + z.imag)):
        text = f"tensor z: c128; z = 1i - 4; repeat 9 {{ z = z * 0.5i }} until {condition} < 1"
        z, expected = (1j - 4) * 0.5j, 1
        while value(z) >= 1:
            z *= 0.5j
            expected += 1
        rounds = rounds_of(distal(["run", "-e", text, "--check"]))
        check(rounds == [expected], f"{rounds} rounds until {condition}, not {expected}")


def test_conjugate_gradients(folder):
    matrix, right = symmetric(53)
    expected, rounds = conjugate_gradients(matrix, right, 1000, 1e-8)
    close(matrix @ expected, right, 1e-8)
    for ranks in RANKS:
        done = distal(["run", example("cg"), *params(f"n=53 p={ranks}"), *save(folder, A=matrix, b=right), "--check",
                       "--out", f"x={folder}/x.npy"])
        check(rounds_of(done) == [rounds], f"{rounds_of(done)} rounds on {ranks} ranks, expected {rounds}")
        close(numpy.load(f"{folder}/x.npy"), expected)


def test_jacobi(folder):
    matrix, right = symmetric(37)
    matrix += 37 * numpy.eye(37)
    x, rounds = numpy.zeros(37), 0
    while rounds == 0 or numpy.linalg.norm(residual) >= 1e-10:
        residual, rounds = right - matrix @ x, rounds + 1
        x += residual / numpy.diag(matrix)
    for ranks in RANKS:
        done = distal(["run", example("jacobi"), *params(f"n=37 p={ranks}"), *save(folder, A=matrix, b=right),
                       "--out", f"x={folder}/x.npy"])
        check(rounds_of(done) == [rounds], f"{rounds_of(done)} rounds on {ranks} ranks, expected {rounds}")
        close(numpy.load(f"{folder}/x.npy"), x)


def test_pagerank(folder):
    generator = numpy.random.default_rng(5)
    links = numpy.where(generator.random((41, 41)) < 0.1, generator.random((41, 41)), 0)
    rank, rounds, change = numpy.ones(41), 0, 1
    while change >= 1e-6:
        new = 0.15 + 0.85 * links @ (rank / numpy.maximum(links.sum(0), 1e-300))
        change, rank, rounds = numpy.abs(new - rank).sum(), new, rounds + 1
    for ranks in RANKS:
        done = distal(["run", example("pagerank"), *params(f"n=41 p={ranks}"), *save(folder, A=links),
                       "--out", f"rank={folder}/rank.npy"])
        check(rounds_of(done) == [rounds], f"{rounds_of(done)} rounds on {ranks} ranks, expected {rounds}")
        close(numpy.load(f"{folder}/rank.npy"), rank)


POWER = """
param n = 29, steps = 40
machine M = grid(ranks)
tensor A(n, n): f64
tensor x(n): f64
tensor y(n): f64
tensor norm: f64
place A(i, j) -> M(i)
place x(i) -> M(i)
place y(i) -> M(i)
repeat steps {
  y(i) = A(i, j) * x(j)
  schedule y {
    distribute({i}, {io}, {ii}, M)
    communicate(x, io)
  }
  norm = y(i) * y(i)
  x(i) = y(i) / sqrt(norm)
}
"""


def test_power_iteration(folder):
    matrix, x = symmetric(29)
    given = save(folder, A=matrix, x=x)
    for ranks in RANKS:
        for steps in (0, 1, 40):
            expected, norm = x.copy(), 0
            for _ in range(steps):
                y = matrix @ expected
                norm = y @ y
                expected = y / numpy.sqrt(norm)
            done = distal(["run", "-", "-n", str(ranks), "-p", f"steps={steps}", *given,
                           "--out", f"x={folder}/out.npy"], text=POWER)
            close(numpy.load(f"{folder}/out.npy"), expected)
            close(float(done.stdout.split("=")[1]), norm) if norm else check(done.stdout == "norm = 0\n", done.stdout)
    largest = numpy.linalg.eigvalsh(matrix)[-1]
    close(numpy.sqrt(norm), largest, 1e-6)


NESTED = """
param n = 6
tensor x(n): i64
tensor s: i64
tensor t: i64
tensor c: i64
t = 0
repeat n / 2 {
  c = 0
  repeat n { c += 1; x(i) += 1; s = x(i) } until 8 - c < 4
  t += s
  repeat 0 { t = -1 }
  repeat 2 { x(i) += 1 }
}
"""


def test_nested(folder):
    x, t = numpy.arange(6), 0
    for _ in range(3):
        x = x + 5
        t += x.sum()
        x = x + 2
    for ranks in (1, 3):
        done = distal(["run", "-", "-n", str(ranks), "--in", "x=iota", "--check", "--out", f"x={folder}/x.npy"],
                      text=NESTED)
        check("15 rounds in 3 repetitions\n" in done.stderr, done.stderr)
        check((numpy.load(f"{folder}/x.npy") == x).all(), "x differs")
        check(f"t = {t}\n" in done.stdout, done.stdout)


def test_nothing_computed(_):
    """A sparse result that is never computed has no entries, and what reads it the others."""
    program = ("param n = 5; machine M = grid(ranks); tensor A(n, n): f64, csr; tensor B(n, n): f64, csr; "
               "tensor C(n, n): f64, csr; tensor D(n, n): f64, {}; place A(x, y) -> M(x); place C(x, y) -> M(x); "
               "repeat 0 {{ D(i, j) = B(i, j) }}; A(i, j) = D(i, j) + C(i, j); D(i, j) = C(j, i)")
    for levels in ("csr", "coo", "{bitmap, dense}", "{compressed, dense}"):
        for ranks in (1, 3):
            done = distal(["run", "-", "-n", str(ranks), "--in", "B=ones", "--in", "C=ones", "--check", "--print", "A"],
                          text=program.format(levels))
            check("A = 25 entries" in done.stdout, done.stdout)


def test_condition_elsewhere(_):
    """Scalars of a condition that no rank has together, and that the first rank does not have."""
    program = ("machine M = grid(3); tensor a: f64; tensor b: f32; tensor c: i32; place a -> M(1); place b -> M(2); "
               "place c -> M(1); a = 8; b = 0; c = 0; repeat 9 { b += 2; c += 1 } until {}")
    for condition, rounds in (("a - b < 1", 4), ("a - c < 3", 6), ("c - b < -5.5", 6), ("a < 0", 9), ("1 < 2", 1)):
        done = distal(["run", "-", "--check"], text=program.replace("{}", condition))
        check(rounds_of(done) == [rounds], f"{condition}: {done.stderr}")


def test_figures(folder):
    matrix, right = symmetric(40)
    words = [example("cg"), *params("n=40 p=3"), *save(folder, A=matrix, b=right), "--stats=json"]
    plan = json.loads(distal(["plan", *words, "--shared-memory", "on"]).stdout)
    run = json.loads(distal(["run", *words]).stdout)
    rounds = conjugate_gradients(matrix, right, 1000, 1e-8)[1]
    check(run["repetitions"] == [{"first": 4, "last": 10, "count": 1000, "until": "sqrt(rr) < 1e-08", "begun": 1,
                                  "rounds": rounds, "ended": 1}], run["repetitions"])
    for planned, counted in zip(plan["statements"], run["statements"]):
        executions = counted.get("executions", 1)
        check(executions == (rounds if "executions" in planned else 1), f"{executions} executions")
        for name, tensor in planned["tensors"].items():
            for key in ("bytes_received", "messages_received"):
                all_executions = [executions * figure for figure in tensor[key]]
                check(counted["tensors"][name][key] == all_executions, f"{planned['target']}: {key} of {name}")
        check(planned["peak_bytes"] == counted["peak_bytes"], "peaks differ")
        if "total" in planned:
            check(planned["total"]["bytes"] == 1000 * sum(sum(t["bytes_received"]) for t in planned["tensors"].values()),
                  "the total of the plan")
            check(counted["total"]["bytes"] == sum(counted["bytes_received"]), "the total of the run")


def test_growing_entries(folder):
    """A sparse tensor that has more entries in every round."""
    program = ("param n = 30; machine M = grid(ranks); tensor S(n, n): f64, csr; tensor R(n, n): f64, csr; "
               "tensor s: f64; place S(i, j) -> M(i); place R(i, j) -> M(i); repeat 4 { "
               "R(i, k) = S(i, j) * S(j, k) + S(i, k); S(i, j) = 0.25 * R(i, j); s = S(i, j) }")
    matrix = symmetric(30)[0] * (numpy.random.default_rng(2).random((30, 30)) < 0.1)
    expected = matrix
    for _ in range(4):
        expected = 0.25 * (expected @ expected + expected)
    for ranks in (1, 2, 3, 4):
        done = distal(["run", "-", "-n", str(ranks), *save(folder, S=matrix), "--check", "--out", f"S={folder}/S.npy"],
                      text=program)
        close(numpy.load(f"{folder}/S.npy"), expected)
        close(float(done.stdout.split("=")[1]), expected.sum())


if __name__ == "__main__":
    stay()
    sys.exit(run_cases(functions_named_test("repeat", globals())))
