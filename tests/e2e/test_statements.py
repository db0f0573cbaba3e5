#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the statements of statements.txt and compares what they write with NumPy: each with extents of its own for every
index, and in a program with others whose type, storage orders, machine, placements and schedules are drawn.

By default every statement runs once. Prints `ok NAME` or `FAIL NAME: why` for each, and a program that fails alone."""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import namedtuple

import numpy

from _common import DISTAL, DTYPE, LIMIT_SECONDS, Failure, exit_status, stay

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = ["f64", "f32", "c128", "i32", "c64", "i64", "mixed"]
# What comes together in a program: the machine, its dimensions level by level, and the ranks.
MACHINES = [
    ("", [], 1),
    ("grid(2)", [("M", [2])], 2),
    ("grid(2, 2)", [("M", [2, 2])], 4),
    ("", [], 3),
    ("grid(3, 2)", [("M", [3, 2])], 6),
    ("grid(ranks)", [("M", [5])], 5),
    ("node grid(2), core grid(2)", [("M.node", [2]), ("M.core", [2])], 4),
    ("grid(3, 1, 2)", [("M", [3, 1, 2])], 3),
    ("grid(12)", [("M", [12])], 12),
    ("node grid(2, 1), core grid(3)", [("M.node", [2, 1]), ("M.core", [3])], 2),
    ("grid(7)", [("M", [7])], 7),
    ("grid(2, 3, 2)", [("M", [2, 3, 2])], 12),
]
ACCESS = re.compile(r"([A-Za-z]\w*)(?:\(([^()]*)\))?")

Access = namedtuple("Access", "tensor variables")
# Its target, "=" or "+=", its right side, the accesses there, and its variables: those of the left side come first.
Statement = namedtuple("Statement", "target operator right accesses variables")


class Sums:
    """A right side over the whole index space: for each set of variables that are summed, the terms that have them, as
    an array with one axis for every variable, and the sum of the absolute values that an element is made of."""

    def __init__(self, groups):
        self.groups = groups

    @staticmethod
    def of(value):
        if isinstance(value, Sums):
            return value
        return Sums({frozenset(): (numpy.asarray(value), numpy.asarray(abs(value)))})

    def __add__(self, other):
        groups = dict(self.groups)
        for summed, (value, magnitude) in Sums.of(other).groups.items():
            mine = groups.get(summed)
            groups[summed] = (mine[0] + value, mine[1] + magnitude) if mine else (value, magnitude)
        return Sums(groups)

    def __mul__(self, other):
        [(left, (value, magnitude))] = self.groups.items()  # a factor: all of it is summed over the same variables
        [(right, (other_value, other_magnitude))] = Sums.of(other).groups.items()
        return Sums({left | right: (value * other_value, magnitude * other_magnitude)})

    def __truediv__(self, other):
        [(left, (value, magnitude))] = self.groups.items()
        [(right, (divisor, divisor_magnitude))] = Sums.of(other).groups.items()
        return Sums({left | right: (divide(value, divisor),
                                    magnitude * divisor_magnitude / numpy.maximum(abs(divisor)**2., 1e-300))})

    def __neg__(self):
        return Sums({summed: (-value, magnitude) for summed, (value, magnitude) in self.groups.items()})

    def __sub__(self, other):
        return self + -Sums.of(other)

    def __rsub__(self, other):
        return Sums.of(other) - self

    def __rtruediv__(self, other):
        return Sums.of(other) / self

    __radd__ = __add__
    __rmul__ = __mul__


def divide(value, divisor):
    if numpy.result_type(value, divisor).kind != "i":
        return value / divisor
    safe = numpy.where(divisor == 0, 1, divisor).astype(divisor.dtype)
    floor = value // safe
    truncated = floor + ((floor * safe != value) & ((value < 0) != (safe < 0))).astype(floor.dtype)
    return numpy.where(divisor == 0, 0, truncated).astype(floor.dtype)


def split_indices(text):
    return re.findall(r"\w+", text or "")


def parse(text):
    if re.fullmatch(r"[a-z]+-[a-z]+-[a-z]+", text):
        a, b, c = (",".join(word) for word in text.split("-"))
        text = f"A({a}) = B({b}) * C({c})"
    statements = []
    for part in text.split(";"):
        left, operator, right = re.fullmatch(r"\s*(.*?)\s*(\+?=)\s*(.*?)\s*", part).groups()
        target, *accesses = [Access(name, split_indices(indices))
                             for name, indices in ACCESS.findall(left + " " + right)]
        variables = list(dict.fromkeys(v for access in [target] + accesses for v in access.variables))
        statements.append(Statement(target, operator, right, accesses, variables))
    return statements


def place_on_axes(array, access, variables):
    """The array of an access, or its diagonal, with one axis for each of the variables."""
    own = [v for v in variables if v in access.variables]
    letter = {v: chr(ord("a") + i) for i, v in enumerate(variables)}
    array = numpy.einsum("".join(letter[v] for v in access.variables) + "->" + "".join(letter[v] for v in own), array)
    return array.reshape([array.shape[own.index(v)] if v in own else 1 for v in variables])


def evaluate(statement, values, magnitudes, extents):
    """What NumPy makes of a statement, and the sums of absolute values; how many nests of loops it is."""
    target, variables = statement.target, statement.variables
    dtype = numpy.result_type(values[target.tensor], *(values[access.tensor] for access in statement.accesses))
    summed = set(variables) - set(target.variables)

    def access(name, indices):
        here = Access(name, indices)
        return Sums({frozenset(summed & set(indices)):
                     (place_on_axes(values[name].astype(dtype), here, variables),
                      place_on_axes(magnitudes[name], here, variables))})

    python = ACCESS.sub(lambda match: f"access({match[1]!r}, {split_indices(match[2])!r})", statement.right)
    terms = Sums.of(eval(python, {"access": access}))
    results = []
    for kind, wide in (0, dtype), (1, float):
        shape = [extents[v] if v in target.variables else 1 for v in variables]
        total = numpy.zeros(shape, wide)
        for group, arrays in terms.groups.items():
            axes = tuple(variables.index(v) for v in group)
            array = arrays[kind].reshape((1,) * (len(shape) - arrays[kind].ndim) + arrays[kind].shape)
            total = total + numpy.sum(array, axis=axes, keepdims=True, dtype=wide)
        results.append(total.reshape([extents[v] for v in target.variables]))
    value, magnitude = results
    if statement.operator == "+=":
        value, magnitude = value + values[target.tensor], magnitude + magnitudes[target.tensor]
    return value, magnitude, len(terms.groups)


class Case:
    """Statements of one line: extents and types for them, inputs, and what NumPy makes of them."""

    def __init__(self, text, suffix, kind, empty, draw):
        self.text = text
        self.statements = [self.rename(statement, suffix) for statement in parse(text)]
        self.draw_extents(draw, empty)
        tensors = list(self.shapes)
        assigned = [statement.target.tensor for statement in self.statements]
        if kind == "mixed":
            self.types = {name: "c128" if name in assigned else draw.choice(TYPES[:6]) for name in tensors}
        else:
            self.types = dict.fromkeys(tensors, kind)
        self.inputs = [name for name in tensors if self.is_input(name)]
        values = {name: self.draw_values(name, draw.randrange(2**32)) for name in tensors}
        self.arrays = {name: self.draw_layout(values[name], draw) for name in self.inputs}
        self.compute(values)

    @staticmethod
    def rename(statement, suffix):
        target = Access(statement.target.tensor + suffix, statement.target.variables)
        accesses = [Access(access.tensor + suffix, access.variables) for access in statement.accesses]
        right = ACCESS.sub(lambda match: match[1] + suffix + (f"({match[2]})" if match[2] is not None else ""),
                           statement.right)
        return statement._replace(target=target, accesses=accesses, right=right)

    def draw_extents(self, draw, empty):
        """Distinct extents for what the statements do not make equal; a small index space."""
        same = {}

        def find(key):
            while same.setdefault(key, key) != key:
                key = same[key]
            return key

        modes = {}
        for number, statement in enumerate(self.statements):
            for access in [statement.target] + statement.accesses:
                modes[access.tensor] = len(access.variables)
                for mode, variable in enumerate(access.variables):
                    same[find((access.tensor, mode))] = find((number, variable))
            for variable in statement.variables:
                find((number, variable))
        classes = sorted({find(key) for key in same}, key=str)
        largest = {1: 40, 2: 23, 3: 17, 4: 9, 5: 8}.get(len(classes), len(classes) + 1)
        extent = dict(zip(classes, draw.sample(range(1, largest + 1), len(classes))))
        if empty and classes:
            extent[draw.choice(classes)] = 0
        self.extents = [{v: extent[find((number, v))] for v in statement.variables}
                        for number, statement in enumerate(self.statements)]
        self.shapes = {name: [extent[find((name, mode))] for mode in range(count)] for name, count in modes.items()}

    def is_input(self, name):
        for statement in self.statements:
            if name in [access.tensor for access in statement.accesses]:
                return True
            if name == statement.target.tensor:
                return statement.operator == "+="
        return False

    def draw_values(self, name, seed):
        """Not near zero, as they may be divisors."""
        generator = numpy.random.default_rng(seed)
        dtype, shape = DTYPE[self.types[name]], self.shapes[name]
        sign = numpy.where(generator.random(shape) < 0.3, -1, 1)
        if dtype[0] == "i":
            return (sign * generator.integers(1, 100, shape)).astype(dtype)
        values = sign * generator.uniform(0.5, 1.5, shape)
        return (values * numpy.exp(1j * generator.uniform(-1, 1, shape)) if dtype[0] == "c" else values).astype(dtype)

    @staticmethod
    def draw_layout(array, draw):
        """How it lies in its file."""
        if draw.random() < 0.25:
            array = array.copy(order="F")
        return array.astype(array.dtype.newbyteorder(">")) if draw.random() < 0.15 else array

    def compute(self, values):
        values, magnitudes = dict(values), {name: numpy.abs(array).astype(float) for name, array in values.items()}
        self.nests, self.tolerances = [], {}
        for statement, extents in zip(self.statements, self.extents):
            name = statement.target.tensor
            value, magnitudes[name], nests = evaluate(statement, values, magnitudes, extents)
            values[name] = value.astype(DTYPE[self.types[name]])
            self.nests.append(nests)
            if self.types[name][0] == "i":
                self.tolerances[name] = 0
                continue
            read = [DTYPE[self.types[access.tensor]] for access in [statement.target] + statement.accesses]
            coarsest = max(numpy.finfo(dtype).eps for dtype in read if dtype[0] != "i")
            terms = numpy.prod([extents[v] for v in statement.variables if v not in statement.target.variables])
            own = coarsest * (16 + 2 * float(terms)**0.5)
            self.tolerances[name] = own + max([0] + [self.tolerances.get(access.tensor, 0)
                                                     for access in statement.accesses])
        self.results = {statement.target.tensor: values[statement.target.tensor] for statement in self.statements}
        self.magnitudes = magnitudes

    @staticmethod
    def file_of(name):
        """Where a result is written."""
        return f"{name}.out.npy"

    def read(self, folder, name):
        return numpy.load(f"{folder}/{self.file_of(name)}")

    def compare(self, folder):
        for name, expected in self.results.items():
            got = self.read(folder, name)
            if got.shape != expected.shape or got.dtype != expected.dtype:
                raise Failure(f"{name} is {got.dtype}{got.shape}, expected {expected.dtype}{expected.shape}")
            wrong = numpy.asarray(numpy.abs(got - expected) > self.tolerances[name] * self.magnitudes[name])
            wrong |= numpy.isnan(got) != numpy.isnan(expected)
            if wrong.any():
                where = tuple(int(i) for i in numpy.argwhere(wrong)[0])
                raise Failure(f"{numpy.count_nonzero(wrong)} of {wrong.size} elements of {name} differ, "
                              f"the first at {where}: {got[where]}, expected {expected[where]}")


def draw_placement(draw, name, order, levels, plain):
    """One arrow a level; where it is plain, mode by mode to dimension by dimension."""
    arrows = []
    for level, dimensions in levels:
        modes = [f"x{m}" for m in range(order)]
        free = list(modes)
        right = []
        for extent in dimensions:
            if plain:
                right.append(free.pop(0) if free else "0")
                continue
            choice = draw.random()
            if choice < 0.65 and free:
                mode = free.pop(draw.randrange(len(free)))
                right.append(f"cyclic({mode}, {draw.randint(1, 4)})" if draw.random() < 0.3 else mode)
            else:
                right.append("*" if choice < 0.85 else str(draw.randrange(extent)))
        arrows.append(f"{name}{'(' + ', '.join(modes) + ')' if modes else ''} -> {level}({', '.join(right)})")
    return "place " + ", ".join(arrows)


def draw_schedule(draw, statement, nests, levels):
    """Commands that are legal for the statement: iterations onto the machine, then steps at which tensors are
    communicated or passed on, then the leaf."""
    variables, commands = statement.variables, []
    level, dimensions = draw.choice(levels) if levels else ("", [])
    targets = draw.sample(variables, min(len(variables), len(dimensions) or draw.randint(1, 2)))
    if not targets:
        return []
    outer, inner = [v + "o" for v in targets], [v + "i" for v in targets]
    local = [v + "i" if v in targets else v for v in variables]
    if len(targets) == len(dimensions):
        lists = ", ".join(f"{{{', '.join(names)}}}" for names in (targets, outer, inner))
        commands.append(f"distribute({lists}, {level})")
    elif nests == 1:
        commands += [f"divide({v}, {v}o, {v}i, {draw.choice(dimensions or [1, 2, 3, 4])})" for v in targets]
        commands += [f"reorder({{{', '.join(outer + local)}}})", f"distribute({{{', '.join(outer)}}})"]
    else:
        return []
    if nests > 1:
        return commands
    at = outer[-1]
    if draw.random() < 0.6:
        step = draw.choice(local)
        local[local.index(step)] = step + "q"
        kind = draw.choice(["split", "divide"])
        commands.append(f"{kind}({step}, {step}p, {step}q, {draw.randint(1, 4)})")
        draw.shuffle(local)
        commands.append(f"reorder({{{', '.join([step + 'p'] + local)}}})")
        at = step + "p"
        if draw.random() < 0.5:
            commands.append(f"rotate({at}, {{{', '.join(draw.sample(outer, draw.randint(1, len(outer))))}}}, {step}r)")
            at = step + "r"
    read = sorted({access.tensor for access in statement.accesses})
    if read and draw.random() < 0.7:
        commands.append(f"communicate({{{', '.join(draw.sample(read, draw.randint(1, len(read))))}}}, {at})")
    if draw.random() < 0.2:
        commands.append(f"communicate({statement.target.tensor}, {draw.choice([at, outer[-1]])})")
    if draw.random() < 0.3:
        commands.append(draw.choice([f"substitute({{{', '.join(local)}}}, loops)",
                                     f"parallelize({local[0]}, cpu_thread, reduction)",
                                     f"parallelize({local[0]}, cpu_thread, atomic)",
                                     f"unroll({local[-1]}, {draw.randint(2, 5)})"]))
    return commands


def write_program(cases, machine, levels, draw, placed, scheduled):
    lines = [f"machine M = {machine}"] if machine else []
    for case in cases:
        for name, shape in case.shapes.items():
            line = f"tensor {name}{'(' + ', '.join(map(str, shape)) + ')' if shape else ''}: {case.types[name]}"
            if len(shape) > 1 and draw.random() < 0.25:
                line += f", {{{', '.join(['dense'] * len(shape))}}}" * draw.randint(0, 1)
                line += f", order({', '.join(map(str, draw.sample(range(len(shape)), len(shape))))})"
            lines.append(line)
            if levels and (placed == "plain" or placed == "drawn" and draw.random() < 0.8):
                lines.append(draw_placement(draw, name, len(shape), levels, placed == "plain"))
        for statement, nests in zip(case.statements, case.nests):
            indices = f"({', '.join(statement.target.variables)})" if statement.target.variables else ""
            lines.append(f"{statement.target.tensor}{indices} {statement.operator} {statement.right}")
            commands = draw_schedule(draw, statement, nests, levels) if scheduled else []
            if commands:
                lines.append(f"schedule {statement.target.tensor} {{\n  " + "\n  ".join(commands) + "\n}")
    return "\n".join(lines) + "\n"


def run(cases, program, ranks):
    """Runs a program and returns why each of its cases has failed, None where it has not."""
    with tempfile.TemporaryDirectory(prefix="distal-statements-") as folder:
        with open(f"{folder}/program.distal", "w", encoding="utf-8") as file:
            file.write(program)
        command = [DISTAL, "run", f"{folder}/program.distal", "-n", str(ranks), "-q", "--check"]
        for case in cases:
            for name, array in case.arrays.items():
                numpy.save(f"{folder}/{name}.npy", array)
                command += ["--in", f"{name}={folder}/{name}.npy"]
            for name in case.results:
                command += ["--out", f"{name}={folder}/{case.file_of(name)}"]
        try:
            done = subprocess.run(command, capture_output=True, timeout=LIMIT_SECONDS, check=False, text=True)
        except subprocess.TimeoutExpired:
            return [f"still running after {LIMIT_SECONDS} s"] * len(cases)
        if done.returncode != 0:
            return [f"exit status {done.returncode}: {done.stderr.strip()}"] * len(cases)
        why = []
        for case in cases:
            try:
                case.compare(folder)
                why.append(None)
            except (Failure, OSError, ValueError) as failure:
                why.append(str(failure))
        return why


def run_together(texts, title, ranks, seed, write, unsupported=None):
    """Runs cases in one program, and where that fails each in one of its own; prints what has become of each and returns
    how many have failed. `write(texts, draw)` gives the cases and their program; `title` has a place for the text;
    a diagnostic with the text `unsupported` is no failure."""
    def attempt(texts):
        cases, program = write(texts, random.Random(seed))
        return program, run(cases, program, ranks)

    program, failures = attempt(texts)
    programs = [program] * len(texts)
    if any(failures) and len(texts) > 1:
        alone = [attempt([text]) for text in texts]
        if any(why[0] for _, why in alone):
            programs, failures = [program for program, _ in alone], [why[0] for _, why in alone]
    failed = 0
    for text, why, program in zip(texts, failures, programs):
        name = title.format(text)
        if not why:
            print(f"ok {name}")
        elif unsupported and unsupported in why:
            print(f"-- {name}: {why.splitlines()[0]}")
        else:
            failed += 1
            first, *rest = why.split("\n")
            print(f"FAIL {name}: {first}")
            for line in rest + ["seed " + str(seed), *program.split("\n")]:
                print(f"    {line}")
    sys.stdout.flush()
    return failed


def run_in_setting(texts, setting, seed):
    kind, (machine, levels, ranks), placed, scheduled, empty = setting

    def write(texts, draw):
        cases = [Case(text, str(number), kind, empty, draw) for number, text in enumerate(texts)]
        return cases, write_program(cases, machine, levels, draw, placed, scheduled)

    title = ", ".join(filter(None, [kind, machine or "no machine", placed, "scheduled" * scheduled, "empty" * empty]))
    return run_together(texts, f"statements/{{}} [{title}; {ranks}]", ranks, seed, write)


def fits(text, kind):
    """Whether a case can be of that type: a fraction is no integer."""
    return kind[0] != "i" or "." not in text


def every_setting():
    how = [("", False, False), ("", True, False), ("", True, True)]
    on_machine = [*how[:2], ("plain", False, False), *(("drawn", *more) for _, *more in how)]
    return [(kind, machine, *choice) for kind in TYPES for machine in MACHINES
            for choice in (on_machine if machine[0] else how)]


def batches(texts, options, draw):
    """(texts, setting) pairs: each text in every setting, or once, with types and machines in turn."""
    every = every_setting()
    draw.shuffle(every)
    if options.all:
        for setting in every:
            fitting = [text for text in texts if fits(text, setting[0])]
            draw.shuffle(fitting)
            for first in range(0, len(fitting), options.together):
                yield fitting[first:first + options.together], setting
        return
    rest = list(texts)
    draw.shuffle(rest)
    number = 0
    while rest:
        kind, machine = TYPES[number % len(TYPES)], MACHINES[number % len(MACHINES)]
        now = [text for text in rest if fits(text, kind)][:options.together]
        rest = [text for text in rest if text not in now]
        number += 1
        if now:
            yield now, draw.choice([setting for setting in every if setting[:2] == (kind, machine)])


def main():
    stay()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="draws everything (default: 1)")
    parser.add_argument("--rounds", type=int, default=1, help="how often every statement runs (default: 1)")
    parser.add_argument("--all", action="store_true", help="run every statement in every setting: hours")
    parser.add_argument("--together", type=int, default=12, help="statements in a program (default: 12)")
    parser.add_argument("word", nargs="*", help="run the statements that contain it")
    options = parser.parse_args()
    with open(f"{HERE}/statements.txt", encoding="utf-8") as file:
        texts = [line.strip() for line in file if line.strip() and line[0] not in "#="]
    texts = [text for text in texts if all(word in text for word in options.word)]
    failed = 0
    for round_ in range(options.rounds):
        draw = random.Random(options.seed * 1000 + round_)
        for together, setting in batches(texts, options, draw):
            failed += run_in_setting(together, setting, draw.randrange(2**31))
    return exit_status(failed)


if __name__ == "__main__":
    sys.exit(main())
