#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Drawn statements with windows, compared with loops over all points in Python: their results, and what each rank
receives, which a model of its own counts element by element. And the examples with windows, compared with NumPy.

Prints `ok NAME` or `FAIL NAME: why` for each case."""
import itertools
import json
import random
import re
import sys

import numpy

from _common import check, distal, example, functions_named_test, once, params, run_cases, stay

BYTES = 8
STATEMENTS = 48


class Index:
    """The sum of variables times integers, and an integer."""

    def __init__(self, factors, plus):
        self.factors, self.plus = factors, plus

    def __str__(self):
        text = " + ".join(name if factor == 1 else f"{factor} * {name}" for name, factor in self.factors.items())
        return f"{text} + {self.plus}" if text and self.plus else text or str(self.plus)

    def at(self, point):
        return self.plus + sum(factor * point[name] for name, factor in self.factors.items())


class Statement:
    """T(i, j) = a product of accesses, which may have a sum of accesses near each other as a factor."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.extents = {"T": [draw.randint(1, 13), draw.randint(1, 7)]}
        self.left = ["i", "j"]
        self.accesses = []
        if draw.random() < 0.6:
            self.extents["w"] = [draw.randint(1, 4)]
            self.accesses.append(("w", [Index({"k": 1}, 0)]))
        self.variables = self.left + (["k"] if self.accesses else [])
        for name in ["u", "z"][:draw.randint(1, 2)]:
            modes = [self.draw_index(draw) for _ in range(draw.randint(1, 2))]
            self.extents[name] = [draw.randint(3, 20) for _ in modes]
            for _ in range(draw.choice([1, 1, 2, 3])):
                self.accesses.append((name, [Index(mode.factors, draw.randint(-2, 2) if mode.factors else mode.plus)
                                             for mode in modes]))
        self.ranges = {}
        for name in self.left:
            if draw.random() < 0.3:
                first = draw.randint(0, 4)
                self.ranges[name] = (first, draw.randint(first, first + 9))
        if not self.stays_inside():
            self.ranges = {}
        self.accumulates = draw.random() < 0.3
        self.places = {name: draw.choice(["x", "x", "y", "*"]) for name in self.extents}
        self.places["T"] = draw.choice("xy")

    def draw_index(self, draw):
        if draw.random() < 0.12:
            return Index({}, draw.randint(0, 2))
        names = draw.sample(self.variables, 2 if draw.random() < 0.35 else 1)
        return Index({name: draw.choice([1, 1, 1, 1, 2, -1]) for name in names}, 0)

    def domain(self, name):
        extent = self.extents["T"][self.left.index(name)] if name in self.left else self.extents["w"][0]
        return range(*self.ranges.get(name, (0, extent)))

    def stays_inside(self):
        everywhere = [("T", [Index({name: 1}, 0) for name in self.left])] + self.accesses
        for tensor, indices in everywhere:
            for mode, index in enumerate(indices):
                names = list(index.factors)
                if not all(name in self.ranges for name in names):
                    continue
                for values in itertools.product(*(self.domain(name) for name in names)):
                    if not 0 <= index.at(dict(zip(names, values))) < self.extents[tensor][mode]:
                        return False
        return True

    def points(self):
        for values in itertools.product(*(self.domain(name) for name in self.variables)):
            point = dict(zip(self.variables, values))
            places = [(tensor, tuple(index.at(point) for index in indices)) for tensor, indices in self.accesses]
            if all(0 <= at < extent for tensor, place in places for at, extent in zip(place, self.extents[tensor])):
                yield point, places

    def text(self):
        factors = {}
        for tensor, indices in self.accesses:
            factors.setdefault(tensor, []).append(f"{tensor}({', '.join(map(str, indices))})")
        right = " * ".join("(" + " + ".join(addends) + ")" for addends in factors.values())
        ranges = ", ".join(f"{name} in {first} : {last}" for name, (first, last) in self.ranges.items())
        return f"T(i, j) {'+=' if self.accumulates else '='} {right}" + (f" for {ranges}" if ranges else "")

    def program(self, ranks):
        lines = [f"machine M = grid({ranks})"]
        for name, extents in self.extents.items():
            modes = ["x", "y"][:len(extents)]
            place = self.places[name] if self.places[name] in modes + ["*"] else "x"
            lines += [f"tensor {name}({', '.join(map(str, extents))}): f64",
                      f"place {name}({', '.join(modes)}) -> M({place})"]
        return "\n".join(lines + [self.text()]) + "\n"

    def block(self, tensor, mode, coordinate, ranks):
        return coordinate // -(-self.extents[tensor][mode] // ranks)

    def holders(self, tensor, place, ranks):
        mode = {"x": 0, "y": 1}.get(self.places[tensor], None)
        if mode is None:
            return range(ranks)
        return [self.block(tensor, mode if mode < len(place) else 0, place[mode if mode < len(place) else 0], ranks)]

    def received(self, ranks):
        """Bytes by tensor and rank: each element once that a rank reads and does not have."""
        reads = {name: [set() for _ in range(ranks)] for name in self.extents if name != "T"}
        for point, places in self.points():
            mode = "xy".index(self.places["T"])
            rank = self.block("T", mode, point[self.left[mode]], ranks)
            for tensor, place in places:
                if rank not in self.holders(tensor, place, ranks):
                    reads[tensor][rank].add(place)
        return {name: [BYTES * len(places) for places in by_rank] for name, by_rank in reads.items()}

    def is_refused(self):
        """A variable indexes modes of different extents alone, and nothing says that it stays inside of them."""
        for name in self.variables:
            if name in self.ranges:
                continue
            modes = [(self.extents[tensor][mode], index) for tensor, indices in
                     [("T", [Index({name: 1}, 0) for name in self.left])] + self.accesses
                     for mode, index in enumerate(indices) if name in index.factors]
            alone = {extent for extent, index in modes if index.factors == {name: 1} and index.plus == 0}
            if len(alone) > 1 and all(index.factors == {name: 1} and index.plus == 0 for _, index in modes):
                return True
        return False

    def limits_together(self):
        """Two indices of several variables limit these together, for which the plan may take more."""
        several = {str(index) for _, indices in self.accesses for index in indices if len(index.factors) > 1}
        return len(several) > 1


def run_statements(folder, seeds, ranks):
    """The statements of these seeds in one program, the tensors of each with its seed in their names: what is got and
    expected of each, by seed."""
    program, words, expected = f"machine M = grid({ranks})\n", ["--check", "-q"], {}
    for seed in seeds:
        statement = Statement(seed)
        arrays, expected[seed] = evaluate(statement, seed)
        machine, *lines = statement.program(ranks).splitlines()
        check(program.startswith(machine), machine)
        program += re.sub(r"\b([Twuz])\b", rf"\g<1>{seed}", "\n".join(lines)) + "\n"
        for name, array in arrays.items():
            numpy.save(f"{folder}/{name}{seed}.npy", array)
            words += ["--in", f"{name}{seed}={folder}/{name}{seed}.npy"] if name != "T" or statement.accumulates else []
        words += ["--out", f"T{seed}={folder}/T{seed}.out.npy"]
    distal(["run", "-e", program, "-n", str(ranks), *words])
    return {seed: (numpy.load(f"{folder}/T{seed}.out.npy"), value) for seed, value in expected.items()}


def evaluate(statement, seed):
    """Arrays for all tensors, and what T is then."""
    generator = numpy.random.default_rng(seed)
    arrays = {name: generator.random(extents) for name, extents in statement.extents.items()}
    expected = arrays["T"].copy() if statement.accumulates else numpy.zeros(statement.extents["T"])
    for point, places in statement.points():
        sums = {}
        for tensor, place in places:
            sums[tensor] = sums.get(tensor, 0) + arrays[tensor][place]
        expected[point["i"], point["j"]] += numpy.prod(list(sums.values()))
    return arrays, expected


def check_statement(seed, results):
    statement = Statement(seed)
    got, expected = results[seed]
    check(numpy.allclose(got, expected, rtol=1e-12, atol=1e-13), f"{statement.text()}: {got}, expected {expected}")
    for ranks in (1, 2, 3, 5, 8, 12):
        planned = distal(["plan", "-e", statement.program(ranks), "-n", str(ranks), "--stats=json"])
        tensors = json.loads(planned.stdout)["statements"][0]["tensors"]
        for name, counted in statement.received(ranks).items():
            moved = tensors[name]["bytes_received"]
            enough = all(a >= b for a, b in zip(moved, counted))
            check(moved == counted or (statement.limits_together() and enough),
                  f"{statement.program(ranks)}{name} moves {moved} bytes, counted {counted}")


def test_heat(folder):
    n, steps = 23, 7
    u = numpy.random.default_rng(1).random((n, n))
    numpy.save(f"{folder}/u.npy", u)
    for _ in range(steps):
        d = numpy.zeros((n, n))
        d[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        u = u + 0.2 * d
    for gx, gy in [(1, 1), (2, 1), (1, 3), (2, 2), (3, 2), (4, 3)]:
        distal(["run", example("heat"), *params(f"n={n} steps={steps} gx={gx} gy={gy}"), "--in", f"u={folder}/u.npy",
                "--check", "-q", "--out", f"u={folder}/out.npy"])
        got = numpy.load(f"{folder}/out.npy")
        check(numpy.allclose(got, u, rtol=1e-12, atol=1e-12), f"differs by {abs(got - u).max()} on {gx} x {gy}")


def test_heat_volumes(_):
    """A row or a column of points from each neighbour, without the points on the sides that no step reads."""
    n = 48
    for gx, gy in [(1, 1), (2, 1), (4, 2), (3, 4)]:
        planned = distal(["plan", example("heat"), *params(f"n={n} gx={gx} gy={gy}"), "--stats=json"])
        u = json.loads(planned.stdout)["statements"][0]["tensors"]["u"]
        expected = []
        for x, y in itertools.product(range(gx), range(gy)):
            rows = n // gx - (x == 0) - (x == gx - 1)
            columns = n // gy - (y == 0) - (y == gy - 1)
            expected.append(BYTES * (columns * ((x > 0) + (x < gx - 1)) + rows * ((y > 0) + (y < gy - 1))))
        check(u["bytes_received"] == expected, f"{u['bytes_received']} on {gx} x {gy}, expected {expected}")


def test_convolution(folder):
    n, c, k = 18, 3, 5
    generator = numpy.random.default_rng(2)
    image, filters = generator.random((n, n, c), "f4"), generator.random((3, 3, c, k), "f4")
    numpy.save(f"{folder}/I.npy", image)
    numpy.save(f"{folder}/W.npy", filters)
    half = (n - 2) // 2
    layer = sum(numpy.einsum("xyd,df->xyf", image[r:r + n - 2:2, s:s + n - 2:2], filters[r, s])
                for r in range(3) for s in range(3))
    pooled = layer.reshape(half // 2, 2, half // 2, 2, k).max((1, 3))
    for p in (1, 2, 3, 4, 12):
        distal(["run", example("convolution"), *params(f"n={n} c={c} k={k} p={p}"), "--in", f"I={folder}/I.npy", "--in",
                f"W={folder}/W.npy", "--check", "-q", "--out", f"P={folder}/out.npy"])
        got = numpy.load(f"{folder}/out.npy")
        check(numpy.allclose(got, pooled, rtol=1e-5), f"differs by {abs(got - pooled).max()} on {p} ranks")


def main():
    stay()
    cases = functions_named_test("windows", globals())
    for first, ranks in enumerate((1, 2, 3, 4, 6, 12)):
        seeds = [seed for seed in range(first, STATEMENTS, 6) if not Statement(seed).is_refused()]
        results = once(lambda folder, seeds=seeds, ranks=ranks: run_statements(folder, seeds, ranks))
        cases += [(f"windows/{seed} {Statement(seed).text()}", lambda _, seed=seed, results=results:
                   check_statement(seed, results())) for seed in seeds]
    return run_cases(cases)


if __name__ == "__main__":
    sys.exit(main())
