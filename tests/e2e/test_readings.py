#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Statements with a sum of unlike addends inside of a term: each is refused, and the two readings that the refusal writes
out are run and compared with what NumPy makes of the statement when read so.

Prints `ok NAME` or `FAIL NAME: why` for each case."""
import ast
import re
import sys

import numpy

from _common import DTYPE, check, distal, run_cases, stay

EXTENTS = {"i": 5, "j": 4, "k": 3, "l": 6}
TYPES = {"z": "c128", "w": "c64", "n": "i32", "f": "f32"}  # by the first letter of a tensor's name; else f64

# The refused ones of statements.txt are here, too.
STATEMENTS = [
    "v = (x(i) - mu) * (x(i) - mu)",
    "A(i) = b(i) * (c(i) + D(i, j))",
    "A(i) = (b(i) + C(i, j)) / d(i)",
    "A(i, j) = (B(i, k) * C(k, j) + D(i, j)) / e",
    "A(i, j) = B(i, j) * (C(i, k) * D(k, j) + 1)",
    "A(i) = (B(i, j) + c(j)) * (D(j, k) + e(k))",
    "A(i) = b(i) * (c(i) + D(i, j) * (e(j) + F(j, k) * (g(k) + 1)))",
    "A(i) = b(i) - 2 * (c(i) - D(i, j) * (e(j) + 1))",
    "A(i, l) = B(i, j) * (C(j, k) * (D(k, l) + E(k, l)) - F(j, l))",
    "v = -(B(i, j) - C(i, j)) * -(d(j) + 1)",
    "v = b(i) * (B(i, j) * c(j) + d(i))",
    "A(i) += b(i) / (2 + abs(B(i, j)) + d(i)) - B(i, j)",
    "A(i) = pow(B(i, j) - m(i), 2) / 3 + min(m(i), 1e-6)",
    "v = log(1 + exp(B(i, j))) - abs(b(i) - d(j)) * d(j)",
    "v = exp(-(x(i) - -mu)) + (x(i) + 1) * (x(i) + 1) * (1 + x(i))",
    "zA(i) = z(i) * (w(i) + B(i, j)) - abs(z(i) - wb(j))",
    "A(i) = n(i) / 2 * (n(i) / 2 - nb(j))",
    "fA(i) = (f(i) + 1.5) * (nB(j) + 1)",
]


class Value:
    """An array with an axis for each variable of the statement, and the variables that it depends on."""

    def __init__(self, array, variables):
        self.array, self.variables = array, variables


class Reader:
    """Evaluates a right side; `ahead`: each addend inside of a term is summed over its own variables first, but for those
    that all of its neighbours have."""

    def __init__(self, tensors, left, order, ahead):
        self.tensors, self.left, self.order, self.ahead = tensors, left, order, ahead

    def total(self, array, variables):
        axes = tuple(self.order.index(v) for v in variables)
        return numpy.sum(array, axis=axes, keepdims=True)

    def addends(self, node, sign=1):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            right = sign if isinstance(node.op, ast.Add) else -sign
            return self.addends(node.left, sign) + self.addends(node.right, right)
        if isinstance(node, ast.UnaryOp):
            return self.addends(node.operand, -sign)
        return [(sign, node)]

    def statement(self, node):
        result = numpy.zeros([1] * len(self.order))
        for sign, addend in self.addends(node):
            term = self.factor(addend)
            result = result + sign * self.total(term.array, term.variables - self.left)
        return result

    def sum(self, node):
        addends = [(sign, self.factor(addend)) for sign, addend in self.addends(node)]
        common = frozenset.intersection(*(addend.variables for _, addend in addends)) | self.left
        array, variables = 0, frozenset()
        for sign, addend in addends:
            kept = addend.variables & common if self.ahead else addend.variables
            array = array + sign * self.total(addend.array, addend.variables - kept)
            variables |= kept
        return Value(array, variables)

    def factor(self, node):
        if isinstance(node, ast.UnaryOp) or isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            return self.sum(node)
        if isinstance(node, ast.BinOp):
            left, right = self.factor(node.left), self.factor(node.right)
            array = left.array * right.array if isinstance(node.op, ast.Mult) else left.array / right.array
            return Value(array, left.variables | right.variables)
        if isinstance(node, ast.Constant):
            return Value(numpy.array(node.value).reshape([1] * len(self.order)), frozenset())
        if isinstance(node, ast.Name):
            return self.access(node.id, [])
        if node.func.id in self.tensors:
            return self.access(node.func.id, [argument.id for argument in node.args])
        functions = {"abs": numpy.abs, "exp": numpy.exp, "log": numpy.log, "pow": numpy.power, "min": numpy.minimum}
        arguments = [self.factor(argument) for argument in node.args]
        return Value(functions[node.func.id](*(argument.array for argument in arguments)),
                     frozenset().union(*(argument.variables for argument in arguments)))

    def access(self, name, variables):
        array = self.tensors[name]
        ranked = sorted(range(len(variables)), key=lambda mode: self.order.index(variables[mode]))
        shape = [EXTENTS[v] if v in variables else 1 for v in self.order]
        return Value(array.transpose(ranked).reshape(shape), frozenset(variables))


def kind_of(name):
    return TYPES.get(name[0], "f64") if name != "mu" else "f64"


def read(text, ahead, tensors):
    left, operator, right = re.fullmatch(r"(.*?) (\+?=) (.*)", text).groups()
    indices = re.findall(r"\b[a-z]\b", left.partition("(")[2])
    order = [v for v in EXTENTS if re.search(rf"[(, ]{v}[),]", text)]
    reader = Reader(tensors, frozenset(indices), order, ahead)
    result = reader.statement(ast.parse(right, mode="eval").body)
    shape = [EXTENTS[v] for v in indices]
    result = numpy.broadcast_to(result, [EXTENTS[v] if v in indices else 1 for v in order]).reshape(shape)
    name = left.partition("(")[0]
    return result + (tensors[name] if operator == "+=" else 0)


def shapes_of(text):
    shapes = {}
    for name, indices in re.findall(r"\b([A-Za-z]\w*)(?:\(([ijkl, ]*)\))?", text):
        if indices or (name not in EXTENTS and f"{name}(" not in text):
            shapes[name] = [EXTENTS[v] for v in re.findall(r"\w", indices)]
    return shapes


def case(text):
    def run(folder):
        numbers = numpy.random.default_rng(len(text))
        shapes, tensors, declared = shapes_of(text), {}, ""
        target = re.match(r"\w+", text)[0]
        for name, shape in shapes.items():
            values = 0.5 + numbers.random(shape)
            if kind_of(name)[0] == "c":
                values = values + 1j * numbers.random(shape)
            tensors[name] = (values if kind_of(name)[0] != "i" else values * 20).astype(DTYPE[kind_of(name)])
            declared += f"tensor {name}{'(' + ', '.join(map(str, shape)) + ')' if shape else ''}: {kind_of(name)}\n"
        done = distal(["check", "-e", declared + text], status=2)
        readings = re.findall(r"note: to sum (.*?), write: (.*)", done.stderr)
        check([title for title, _ in readings] == ["the whole term", "each addend before adding"],
              f"the readings are {readings}")
        wide = {name: array.astype("c16" if array.dtype.kind == "c" else "f8") for name, array in tensors.items()}
        for (title, statements), ahead in zip(readings, (False, True)):
            arguments = ["run", "-q", "--check", "-e", declared + statements, "--out", f"{target}={folder}/out.npy"]
            for name, array in tensors.items():
                if name != target or "+=" in text:
                    numpy.save(f"{folder}/{name}.npy", array)
                    arguments += ["--in", f"{name}={folder}/{name}.npy"]
            distal(arguments)
            got, expected = numpy.load(f"{folder}/out.npy"), read(text, ahead, wide)
            check(numpy.allclose(got, expected, rtol=1e-5 if "f" in target + text[:2] else 1e-10),
                  f"{title}: {got}, expected {expected}")
    return run


def main():
    stay()
    return run_cases([(f"readings/{text}", case(text)) for text in STATEMENTS])


if __name__ == "__main__":
    sys.exit(main())
