#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the statements of sparse_statements.txt and compares what they write with NumPy, on dense arrays with zeros:
values, and of sparse results which elements are entries. Types, levels, orders of modes and patterns of entries are drawn.

Prints `ok NAME` or `FAIL NAME: why` for each, and a program that fails alone; `-- NAME` for what is not supported yet."""
import argparse
import os
import random
import re
import sys

import numpy

from _common import DTYPE, Failure, exit_status, stay
from test_statements import Case, evaluate, run_together

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = ["f64", "f32", "i64", "c128", "i32"]
FILLS = ["empty", "one", "row", "column", "few", "tenth", "half", "all"]
NAMED = {2: ["csr", "csc", "coo", "dcsr", "csf"]}


def draw_levels(draw, order):
    """Levels as the language has them, and the order in which modes are stored."""
    modes = draw.sample(range(order), order) if draw.random() < 0.4 else list(range(order))
    if draw.random() < 0.5:
        name = draw.choice(NAMED.get(order, ["coo", "csf"]))
        levels = {"csr": ["dense", "compressed"], "csc": ["dense", "compressed"], "dcsr": ["compressed"] * 2,
                  "csf": ["compressed"] * order, "coo": ["compressed"] + ["singleton"] * (order - 1)}[name]
        modes = {"csc": [1, 0]}.get(name, modes)
        ordered = name != "csc" and modes != list(range(order))
        return f", {name}" + (f", order({', '.join(map(str, modes))})" if ordered else ""), levels, modes
    levels = []
    while len(levels) < order:
        kind = draw.choice(["dense", "compressed", "compressed", "bitmap", "coordinates"])
        run = draw.randint(1, order - len(levels))
        levels += ["compressed"] + ["singleton"] * (run - 1) if kind == "coordinates" else [kind]
    if set(levels) == {"dense"}:
        levels[-1] = "compressed"
    text = [level + ("(nonunique)" if "singleton" in levels[l + 1:l + 2] else "") for l, level in enumerate(levels)]
    names = [f"d{m}" for m in range(order)]
    stored = ", ".join(f"{names[m]} : {level}" for m, level in zip(modes, text))
    return f", ({', '.join(names)}) -> ({stored})", levels, modes


class SparseCase(Case):
    def __init__(self, line, suffix, kind, draw):
        text, sparse, schedule = (line.split("|") + [""])[:3]
        self.schedule = re.sub(r"\b([A-Za-z]\w*)(?=\()(?<!precompute)", rf"\g<1>{suffix}", schedule.strip())
        self.schedule = re.sub(r"(\}, \{[^}]*\}, \w+)", rf"\g<1>{suffix}", self.schedule)
        self.sparse = [name + suffix for name in sparse.split()]
        self.fill_draw = draw
        super().__init__(text.strip(), suffix, kind, False, draw)
        self.text = line
        self.levels = {name: draw_levels(draw, len(self.shapes[name])) for name in self.sparse}

    def draw_values(self, name, seed):
        values = super().draw_values(name, seed)
        if name not in self.sparse:
            return values
        fill, shape = self.fill_draw.choice(FILLS), values.shape
        generator = numpy.random.default_rng(seed)
        stored = generator.random(shape) < {"few": 0.04, "tenth": 0.1, "half": 0.5, "all": 1}.get(fill, 0)
        if fill == "one" and values.size:
            stored.flat[generator.integers(values.size)] = True
        elif fill == "row" and values.size:
            stored[generator.integers(shape[0])] = True
        elif fill == "column" and values.size:
            stored[..., generator.integers(shape[-1])] = True
        return numpy.where(stored, values, 0).astype(values.dtype)

    def file_of(self, name):
        """Entries can be seen in text files, which have no complex numbers."""
        return f"{name}.out.{'tns' if name in self.sparse and self.types[name][0] != 'c' else 'npy'}"

    def compute(self, values):
        self.initial = values
        super().compute(values)

    def stored(self, name, entries):
        """What a tensor stores that has these entries: dense levels at the end store all below one."""
        _, levels, modes = self.levels[name]
        for level, mode in zip(reversed(levels), reversed(modes)):
            if level != "dense":
                break
            entries = numpy.repeat(entries.any(axis=mode, keepdims=True), entries.shape[mode], axis=mode)
        return entries

    def entries_of(self, name):
        """What a result has to store: where a sum of products of what is stored is not zero."""
        values = dict(self.initial)
        entries = {tensor: self.stored(tensor, value != 0).astype(float) if tensor in self.sparse
                   else numpy.ones(value.shape) for tensor, value in values.items()}
        for statement, extents in zip(self.statements, self.extents):
            target = statement.target.tensor
            pattern = evaluate(statement, values, entries, extents)[1] > 0
            entries[target] = (self.stored(target, pattern) if target in self.sparse
                               else numpy.ones(pattern.shape)).astype(float)
            values[target] = self.results[target]
        return entries[name] > 0

    def read(self, folder, name):
        path = f"{folder}/{self.file_of(name)}"
        if path.endswith(".npy"):
            return super().read(folder, name)
        shape, dtype = self.shapes[name], DTYPE[self.types[name]]
        with open(path, encoding="utf-8") as file:
            lines = [line.split() for line in file if line.strip() and line[0] != "#"]
        coordinates = [tuple(int(word) - 1 for word in line[:len(shape)]) for line in lines]
        if len(set(coordinates)) != len(coordinates):
            raise Failure(f"{name} has an entry twice")
        value, stored = numpy.zeros(shape, dtype), numpy.zeros(shape, bool)
        for line, at in zip(lines, coordinates):
            value[at], stored[at] = numpy.dtype(dtype).type(line[-1]), True
        expected = self.entries_of(name)
        if (stored != expected).any():
            where = tuple(int(i) for i in numpy.argwhere(stored != expected)[0])
            raise Failure(f"{name} has {numpy.count_nonzero(stored)} entries, expected {numpy.count_nonzero(expected)}; "
                          f"{where} is {'one' if stored[where] else 'none'}")
        return value

    def program(self, draw):
        lines = []
        for name, shape in self.shapes.items():
            extents = f"({', '.join(map(str, shape))})" if shape else ""
            lines.append(f"tensor {name}{extents}: {self.types[name]}" + (self.levels[name][0] if name in self.sparse else ""))
        for statement in self.statements:
            indices = f"({', '.join(statement.target.variables)})" if statement.target.variables else ""
            lines.append(f"{statement.target.tensor}{indices} {statement.operator} {statement.right}")
            if self.schedule:
                lines += [f"schedule {statement.target.tensor} {{", *self.schedule.split(";"), "}"]
        return "\n".join(lines) + "\n"


def run_lines(lines, kind, ranks, seed):
    def write(lines, draw):
        cases = [SparseCase(line, str(number), kind, draw) for number, line in enumerate(lines)]
        return cases, "".join(case.program(draw) for case in cases)

    return run_together(lines, f"sparse/{{}} [{kind}; {ranks}]", ranks, seed, write, "not supported yet")


def main():
    stay()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="draws everything (default: 1)")
    parser.add_argument("--rounds", type=int, default=2, help="how often every statement runs (default: 2)")
    parser.add_argument("--together", type=int, default=12, help="statements in a program (default: 12)")
    parser.add_argument("word", nargs="*", help="run the statements that contain it")
    options = parser.parse_args()
    with open(f"{HERE}/sparse_statements.txt", encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip() and line[0] not in "#="]
    lines = [line for line in lines if all(word in line for word in options.word)]
    failed, number = 0, 0
    for round_ in range(options.rounds):
        draw = random.Random(options.seed * 1000 + round_)
        rest = draw.sample(lines, len(lines))
        while rest:
            failed += run_lines(rest[:options.together], TYPES[number % len(TYPES)], [1, 1, 3][number % 3],
                                draw.randrange(2**31))
            rest = rest[options.together:]
            number += 1
    return exit_status(failed)


if __name__ == "__main__":
    sys.exit(main())
