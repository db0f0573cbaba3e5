#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sparse tensors on 1 to 12 ranks, beside SciPy: every run is checked, and moves what `plan` says.

Prints `ok NAME` or `FAIL NAME: why` for each."""
import json
import re
import sys
import tempfile
from collections.abc import Callable
from typing import NamedTuple

import numpy
import scipy.io
import scipy.sparse

from _common import Failure, check, distal, exit_status, stay


def random_matrix(rows, columns, density, seed):
    return scipy.sparse.random(rows, columns, density, "csr", random_state=seed,
                               data_rvs=lambda n: numpy.random.default_rng(seed).uniform(0.5, 1.5, n))


def random_array(*shape):
    return numpy.random.default_rng(sum(shape)).random(shape)


# Many ranks: each has parts of the columns, and a row has fewer entries than there are ranks.
MANY_RANKS, MANY_COLUMNS = 100, random_matrix(250, 3000, 0.01, 9)
BATCH = 12  # cases in a launch
# The grid of as many ranks, for machines of two dimensions.
GRIDS = {1: (1, 1), 2: (1, 2), 3: (3, 1), 4: (2, 2), 6: (3, 2), 8: (2, 4), 12: (4, 3)}
MATRICES = {
    "random": random_matrix(37, 29, 0.1, 1), "wide": random_matrix(5, 101, 0.2, 2),
    "empty": scipy.sparse.csr_matrix((7, 11)), "one row": random_matrix(1, 23, 0.5, 3),
    "full row": scipy.sparse.csr_matrix(numpy.ones((1, 13)).repeat(11, 0) * (numpy.arange(11) == 4)[:, None]),
}


def full_rows(matrix):
    """All elements of the rows that have entries."""
    rows = sorted(set(matrix.nonzero()[0].tolist()))
    at = [(i, j) for i in rows for j in range(matrix.shape[1])]
    row, column = zip(*at) if at else ((), ())
    return scipy.sparse.coo_matrix((matrix.toarray()[row, column] if at else [], (row, column)), matrix.shape)


class Statement(NamedTuple):
    """What is computed of B(n, m): a sparse A, or a dense y."""
    text: str
    extents: dict[str, str]  # of the other tensors
    inputs: Callable         # other than B, from its numbers of rows and columns
    value: Callable          # of the inputs
    square: bool = False     # B has as many rows as columns


SPMV = Statement("y(i) = B(i, j) * x(j)", {"y": "n", "x": "m"},
                 lambda rows, columns: {"x": random_array(columns)},
                 lambda B, x: B @ x)
SPMM = Statement("y(i, k) = B(i, j) * C(j, k)", {"y": "n, 3", "C": "m, 3"},
                 lambda rows, columns: {"C": random_array(columns, 3)},
                 lambda B, C: B @ C)
SDDMM = Statement("A(i, j) = B(i, j) * E(i, k) * F(k, j)", {"A": "n, m", "E": "n, 3", "F": "3, m"},
                  lambda rows, columns: {"E": random_array(rows, 3), "F": random_array(3, columns)},
                  lambda B, E, F: scipy.sparse.csr_matrix(B.multiply(E @ F)))
SUM = Statement("A(i, j) = B(i, j) + 2 * C(i, j)", {"A": "n, m", "C": "n, m"},
                lambda rows, columns: {"C": random_matrix(rows, columns, 0.2, 6)},
                lambda B, C: B + 2 * C)
PRODUCT = Statement("A(i, k) = B(i, j) * C(j, k)", {"A": "n, n", "C": "m, n"},
                    lambda rows, columns: {"C": random_matrix(columns, rows, 0.2, 7)},
                    lambda B, C: B @ C)
ADDED = Statement("A(i, j) += B(i, j)", {"A": "n, m"},
                  lambda rows, columns: {"A": random_matrix(rows, columns, 0.2, 8)},
                  lambda B, A: A + B)
SCALED = Statement("A(i, j) *= B(i, j)", {"A": "n, m"},
                   lambda rows, columns: {"A": random_matrix(rows, columns, 0.3, 8)},
                   lambda B, A: A.multiply(B))
GREATEST = Statement("A(i, j) max= 0.7 * B(i, j)", {"A": "n, m"},
                     lambda rows, columns: {"A": random_matrix(rows, columns, 0.3, 8)},
                     lambda B, A: A.maximum(0.7 * B))
RELAXED = Statement("A(i, j) = B(i, j) - 2 * A(i, j)", {"A": "n, m"},
                    lambda rows, columns: {"A": random_matrix(rows, columns, 0.3, 8)},
                    lambda B, A: B - 2 * A)
COPY = Statement("A(i, j) = B(i, j)", {"A": "n, m"}, lambda rows, columns: {}, lambda B: B)
COPY_OF_ROWS = COPY._replace(value=lambda B: full_rows(B))
TRANSPOSE = Statement("A(i, j) = B(j, i)", {"A": "m, n"}, lambda rows, columns: {}, lambda B: B.T)
SYMMETRIC = Statement("A(i, j) = B(j, i) + B(i, j)", {"A": "n, m"}, lambda rows, columns: {}, lambda B: B.T + B,
                      square=True)


# Volumes by definition, from coordinates alone: for a tensor, figures by rank. What comes to a rank (or leaves it with a
# result) are 8 bytes for each value and, where entries move, the structure of those of each pair of ranks.

def block(extent, parts):
    """The owner of a coordinate in blocks."""
    size = max(1, -(-extent // parts))
    return lambda x: x // size


def cyclic(ranks):
    """The owner of a coordinate in blocks of two, round-robin."""
    return lambda x: x // 2 % ranks


def cyclic_blocks(extent, parts):
    return cyclic(parts)


def values(counts):
    return {"bytes_received": [8 * count for count in counts]}


def runs(numbers):
    return sum(x - 1 not in numbers for x in numbers)


def structure(entries):
    """The fewest bytes that say which entries these are, as pairs of coordinates of 4 bytes: as a list, or with the second
    ones below each first one and their number; and coordinates one by one, or as runs: a first one and their number."""
    first = {i for i, _ in entries}
    second_runs = sum(runs({j for k, j in entries if k == i}) for i in first)
    return min(8 * len(entries), 12 * second_runs,
               min(4 * len(first), 8 * runs(first)) + 4 * len(first) + min(4 * len(entries), 8 * second_runs))


# Eight rows with four contiguous columns each: of a row, its number, the first column and the number of columns.
assert structure({(i, j) for i in range(8) for j in range(4)}) == 8 * 3 * 4


def entries(moves, ranks, counted_at=1):
    """Of moves of entries ((i, j), sender, receiver), which are counted at one of these two."""
    pairs = {}
    for entry, *ends in moves:
        pairs.setdefault(tuple(ends), set()).add(entry)
    counts, bytes_moved = [0] * ranks, [0] * ranks
    for ends, moved_entries in pairs.items():
        counts[ends[counted_at]] += len(moved_entries)
        bytes_moved[ends[counted_at]] += structure(moved_entries)
    return values(counts) | {"structure_bytes_received": bytes_moved}


def indexed(operand, width, owner=block):
    """Of an operand in blocks, the elements that the columns of the rank's rows name and other ranks have."""
    def volumes(inputs, ranks, grid):
        B = inputs["B"].tocoo()
        rows, columns = block(B.shape[0], ranks), owner(B.shape[1], ranks)
        return {operand: values(width * len({int(j) for i, j in zip(B.row, B.col)
                                             if rows(i) == rank and columns(j) != rank}) for rank in range(ranks))}
    return volumes


def fetched_rows(inputs, ranks, owner):
    """Entries of C, whose rows have owners, in the rows that the columns of the rank's rows of B name."""
    B, C = inputs["B"].tocoo(), inputs["C"].tocoo()
    rows = block(B.shape[0], ranks)
    named = [{int(j) for i, j in zip(B.row, B.col) if rows(i) == rank} for rank in range(ranks)]
    return entries([((int(j), int(k)), owner(j), rank) for rank in range(ranks) for j, k in zip(C.row, C.col)
                    if int(j) in named[rank] and owner(j) != rank], ranks)


def product_of_rows(inputs, ranks, grid):
    return {"C": fetched_rows(inputs, ranks, block(inputs["C"].shape[0], ranks))}


def product_of_cyclic_rows(inputs, ranks, grid):
    """The result is replicated: each entry goes from the owner of its row to all others."""
    rows = block(inputs["B"].shape[0], ranks)
    A = (inputs["B"] @ inputs["C"]).tocoo()
    return {"C": fetched_rows(inputs, ranks, cyclic(ranks)),
            "A": entries([((int(i), int(k)), rows(i), rank) for i, k in zip(A.row, A.col) for rank in range(ranks)
                          if rank != rows(i)], ranks, counted_at=0)}


def moved(tensor, before, after, columns_first=False, stored=lambda matrix: matrix):
    """Entries whose owners before and after are different ranks. `before` and `after` give the owner of an entry, from
    the shape, the ranks and the grid."""
    def volumes(inputs, ranks, grid):
        matrix = stored(inputs[tensor]).tocoo()
        owns, uses = (owner(*matrix.shape, ranks, grid) for owner in (before, after))
        return {tensor: entries([((int(j), int(i)) if columns_first else (int(i), int(j)), owns(i, j), uses(i, j))
                                 for i, j in zip(matrix.row, matrix.col) if owns(i, j) != uses(i, j)], ranks)}
    return volumes


def by_rows(rows, columns, ranks, grid):
    return lambda i, j, owner=block(rows, ranks): owner(i)


def by_columns(rows, columns, ranks, grid):
    return lambda i, j, owner=block(columns, ranks): owner(j)


def by_cyclic_columns(rows, columns, ranks, grid):
    return lambda i, j, owner=cyclic(ranks): owner(j)


def in_blocks(rows, columns, ranks, grid):
    down, across = block(rows, grid[0]), block(columns, grid[1])
    return lambda i, j: down(i) * grid[1] + across(j)


def in_transposed_blocks(rows, columns, ranks, grid):
    owner = in_blocks(columns, rows, ranks, grid)
    return lambda i, j: owner(j, i)


def on_first(rows, columns, ranks, grid):
    return lambda i, j: 0


def parts_of_entries(inputs, ranks, key=None):
    """Parts of equally many entries, in lexicographic order."""
    B = inputs["B"].tocoo()
    ordered = sorted(zip(B.row.tolist(), B.col.tolist()), key=key)
    size = max(1, -(-len(ordered) // ranks))
    return [ordered[rank * size:(rank + 1) * size] for rank in range(ranks)]


def least_load(inputs, ranks, grid):
    """The least that the part with the most entries can have, of contiguous rows: by trying every last part."""
    counts = inputs["B"].tocsr().getnnz(axis=1).tolist()
    before = [sum(counts[:i]) for i in range(len(counts) + 1)]
    least = list(before)
    for _ in range(ranks - 1):
        least = [min(max(least[first], before[last] - before[first]) for first in range(last + 1))
                 for last in range(len(before))]
    return {"B": {"most_stored": least[-1]}}


def stored_by_columns(inputs, ranks, grid):
    return {"B": {"stored": [len(part) for part in parts_of_entries(inputs, ranks, lambda e: e[::-1])]}}


def parts_of_rows(owner):
    """Of rows that are stored in full where they have entries, a rank stores its columns, of each of them, and has room
    for those between."""
    def volumes(inputs, ranks, grid):
        B = inputs["B"].tocoo()
        rows, owns = len(set(B.row.tolist())), owner(*B.shape, ranks, grid)
        columns = [[j for j in range(B.shape[1]) if owns(0, j) == rank] for rank in range(ranks)]
        return {"B": {"stored": [rows * len(own) for own in columns],
                      "home_bytes": [16 + 4 * rows + 8 * rows * (own[-1] + 1 - own[0]) if own else 0 for own in columns]}}
    return volumes


def spmv_of_entries(inputs, ranks, grid):
    """Rows from the first to the last entry are partial results."""
    parts = parts_of_entries(inputs, ranks)
    rows, columns = (block(extent, ranks) for extent in inputs["B"].shape)
    return {"x": values([sum(columns(j) != rank for j in {j for _, j in part}) for rank, part in enumerate(parts)]),
            "y": values([sum(rows(i) != rank for i in range(part[0][0], part[-1][0] + 1)) if part else 0
                         for rank, part in enumerate(parts)])}


def spmv_by_entries(inputs, ranks, grid):
    stored = [len(part) for part in parts_of_entries(inputs, ranks)]
    return {"B": {"stored": stored}} | spmv_of_entries(inputs, ranks, grid)


def sddmm_by_entries(inputs, ranks, grid):
    parts = parts_of_entries(inputs, ranks)
    rows, columns = (block(extent, ranks) for extent in inputs["B"].shape)
    return {"B": {"stored": [len(part) for part in parts]},
            "E": values([3 * sum(rows(i) != rank for i in {i for i, _ in part}) for rank, part in enumerate(parts)]),
            "F": values([3 * sum(columns(j) != rank for j in {j for _, j in part}) for rank, part in enumerate(parts)])}


class Case(NamedTuple):
    title: str
    statement: Statement
    levels: dict[str, str]
    places: dict[str, str | list[str]]  # where tensors are placed: on M, or level by level
    volumes: Callable = lambda inputs, ranks, grid: {}
    machine: str = "grid(g)"
    schedule: str = ""


BLOCKS = "grid(g, h)"
CASES = [
    Case("SpMV by rows", SPMV, {"B": "csr"}, {"B": "i", "y": "i", "x": "*"}),
    Case("SpMV by rows, x in blocks", SPMV, {"B": "dcsr"}, {"B": "i", "y": "i", "x": "j"}, indexed("x", 1)),
    Case("SpMV by columns", SPMV, {"B": "csc"}, {"B": "j", "y": "i"}),
    Case("SpMV in blocks", SPMV, {"B": "coo"}, {"B": "i, j"}, machine=BLOCKS),
    Case("SpMV block-cyclic", SPMV, {"B": "csr"}, {"B": "cyclic(i, 3)"}),
    Case("SpMV by rows, x block-cyclic", SPMV, {"B": "csr"}, {"B": "i", "y": "i", "x": "cyclic(j, 2)"},
         indexed("x", 1, cyclic_blocks)),
    Case("SpMM by rows", SPMM, {"B": "csr"}, {"B": "i", "y": "i", "C": "j"}, indexed("C", 3)),
    Case("SDDMM by rows", SDDMM, {"B": "csr", "A": "csr"}, {"B": "i", "E": "i", "F": "j", "A": "i"}, indexed("F", 3)),
    Case("sum by rows", SUM, {"B": "csr", "C": "dcsr", "A": "csr"}, {"B": "i", "C": "i", "A": "i"}),
    Case("sum, placed otherwise", SUM, {"B": "csr", "C": "csc", "A": "csr"}, {"B": "i", "C": "j", "A": "i"},
         moved("C", by_columns, by_rows, columns_first=True)),
    Case("product by rows", PRODUCT, {"B": "csr", "C": "csr", "A": "dcsr"}, {"B": "i", "C": "*", "A": "i"}),
    Case("product, C by rows", PRODUCT, {"B": "csr", "C": "csr", "A": "csr"}, {"B": "i", "C": "j", "A": "i"},
         product_of_rows),
    Case("product, C by columns", PRODUCT, {"B": "csr", "C": "csc", "A": "csr"}, {"B": "i", "C": "k", "A": "k"}),
    Case("product, C block-cyclic", PRODUCT, {"B": "coo", "C": "dcsr", "A": "dcsr"},
         {"B": "i", "C": "cyclic(j, 2)", "A": "*"}, product_of_cyclic_rows),
    Case("product, nothing else placed", PRODUCT, {"B": "csr", "C": "csr", "A": "csr"}, {"B": "i"}),
    Case("conversion, rows to columns", COPY, {"B": "csr", "A": "csc"}, {"B": "i", "A": "j"},
         moved("B", by_rows, by_columns)),
    Case("conversion, blocks to one rank", COPY, {"B": "dcsr", "A": "coo"}, {"B": "i, j", "A": "0, 0"},
         moved("B", in_blocks, on_first), BLOCKS),
    Case("conversion of copies", COPY, {"B": "csr", "A": "dcsr"}, {"B": "i, *", "A": "i, *"}, machine=BLOCKS),
    Case("conversion, computed by columns", COPY, {"B": "csr", "A": "dcsr"}, {"B": "i", "A": "i"},
         schedule="distribute({j}, {jo}, {ji}, M)"),
    Case("redistribution", COPY, {"B": "coo", "A": "coo"}, {"B": "i, j", "A": "j, i"},
         moved("B", in_blocks, in_transposed_blocks), BLOCKS),
    Case("transpose, rows to rows", TRANSPOSE, {"B": "csr", "A": "csr"}, {"B": "j", "A": "i"},
         moved("B", by_rows, by_columns)),
    Case("transpose, rows to cyclic rows", TRANSPOSE, {"B": "csr", "A": "dcsr"}, {"B": "j", "A": "cyclic(i, 2)"},
         moved("B", by_rows, by_cyclic_columns)),
    Case("sum with the transpose", SYMMETRIC, {"B": "csr", "A": "csr"}, {"B": "i", "A": "i"},
         moved("B", by_rows, by_columns)),
    Case("SpMV by weighted rows", SPMV, {"B": "csr"}, {"B": "weighted(i)", "y": "weighted(i, B)", "x": "j"}, least_load),
    Case("SpMV by stored rows", SPMV, {"B": "dcsr"}, {"B": "~i", "y": "weighted(i, B)", "x": "j"}),
    Case("SpMV by stored columns", SPMV, {"B": "csc"}, {"B": "~j", "y": "i", "x": "weighted(j, B)"}),
    Case("SpMV by entries", SPMV, {"B": "csr"}, {"B": "~fuse(i, j)", "y": "i", "x": "j"}, spmv_by_entries),
    Case("SpMV by entries of a list", SPMV, {"B": "coo"}, {"B": "~fuse(i, j)", "y": "i", "x": "j"}, spmv_by_entries),
    Case("SpMV by entries in columns", SPMV, {"B": "csc"}, {"B": "~fuse(j, i)", "y": "i", "x": "j"}, stored_by_columns),
    Case("SpMV by entries, on all levels", SPMV, {"B": "dcsr"}, {"B": ["M.node(~fuse(i, j))", "M.core(~fuse(i, j))"]},
         machine="node grid(g), core grid(h)"),
    Case("SDDMM by entries", SDDMM, {"B": "csr", "A": "csr"},
         {"B": "~fuse(i, j)", "E": "i", "F": "j", "A": "~fuse(i, j)"}, sddmm_by_entries),
    Case("addition by entries, nothing else placed", ADDED, {"B": "csc", "A": "csc"}, {"B": "~fuse(j, i)"}),
    Case("update to common entries", SCALED, {"B": "csc", "A": "csr"}, {"B": "j", "A": "i"}),
    Case("update to the entries of both", GREATEST, {"B": "dcsr", "A": "coo"}, {"B": "~fuse(i, j)", "A": "i"}),
    Case("update in blocks, block-cyclic", RELAXED, {"B": "csr", "A": "dcsr"}, {"B": "i, j", "A": "cyclic(i, 2), *"},
         machine=BLOCKS),
    Case("update, nothing else placed", SCALED, {"B": "coo", "A": "csc"}, {"B": "~fuse(i, j)"}),
    Case("update computed by columns", RELAXED, {"B": "csr", "A": "csr"}, {"B": "i", "A": "i"},
         schedule="distribute({j}, {jo}, {ji}, M)"),
    Case("SpMV of parts of rows", SPMV, {"B": "{compressed, dense}"}, {"B": "j", "y": "i", "x": "j"},
         parts_of_rows(by_columns)),
    Case("SpMV of parts of rows in blocks", SPMV, {"B": "{compressed, dense}"}, {"B": "i, j"}, machine=BLOCKS),
    Case("SpMV of parts of rows, block-cyclic", SPMV, {"B": "{compressed, dense}"}, {"B": "cyclic(j, 2)"},
         parts_of_rows(by_cyclic_columns)),
    Case("block-cyclic parts of rows to rows", COPY_OF_ROWS, {"B": "{compressed, dense}", "A": "csr"},
         {"B": "cyclic(j, 2)", "A": "i"}, moved("B", by_cyclic_columns, by_rows, stored=full_rows)),
    Case("block-cyclic parts of rows to parts", COPY_OF_ROWS, {"B": "{compressed, dense}", "A": "{compressed, dense}"},
         {"B": "cyclic(j, 2)", "A": "j"}, moved("B", by_cyclic_columns, by_columns, stored=full_rows)),
    Case("rows to block-cyclic parts", COPY_OF_ROWS, {"B": "{compressed, dense}", "A": "{compressed, dense}"},
         {"B": "i", "A": "cyclic(j, 2)"}, moved("B", by_rows, by_cyclic_columns, stored=full_rows)),
    Case("SpMM of parts of rows, placed otherwise", SPMM, {"B": "{compressed, dense}"}, {"y": "i", "B": "j", "C": "j"},
         parts_of_rows(by_columns), schedule="distribute({i}, {io}, {ii}, M)"),
    Case("SpMV of rows by entries", SPMV, {"B": "csr"}, {"B": "i", "y": "i", "x": "j"}, spmv_of_entries,
         schedule="collapse(i, j, f); pos(f, p, B(i, j)); divide(p, po, pi, g); distribute(po)"),
    Case("SpMV of rows by columns", SPMV, {"B": "csr"}, {"B": "i", "y": "i", "x": "j"}, moved("B", by_rows, by_columns),
         schedule="distribute({j}, {jo}, {ji}, M)"),
]


def largest_square(matrix):
    size = min(matrix.shape)
    return matrix.tocsr()[:size, :size]


def write_program(batch):
    """The statements of several cases on the same machine, the tensors and sizes of each with its number in their names.
    Sizes are given when it runs."""
    lines = ["param g = 1, h = 1", f"machine M = {batch[0].machine}"]
    for number, case in enumerate(batch):
        indices = dict(re.findall(r"(\w)(\([ijk, ]+\))", case.statement.text))
        own = ["param n = 0, m = 0"]
        for name, extents in ({"B": "n, m"} | case.statement.extents).items():
            own.append(f"tensor {name}({extents}): f64" + (f", {case.levels[name]}" if name in case.levels else ""))
        for name, places in case.places.items():
            levels = places if isinstance(places, list) else [f"M({places})"]
            own.append("place " + ", ".join(f"{name}{indices[name]} -> {level}" for level in levels))
        own.append(case.statement.text)
        if case.schedule:
            own.append(f"schedule {case.statement.text[0]} {{ {case.schedule} }}")
        lines += [re.sub(r"\b([ABCEFxynm])\b", rf"\g<1>{number}", line) for line in own]
    return "\n".join(lines) + "\n"


def compare(path, value):
    if path.endswith(".npy"):
        got = numpy.load(path)
        check(numpy.allclose(got, value, rtol=1e-12), f"y differs by {numpy.abs(got - value).max(initial=0):.3g}")
        return
    got = scipy.sparse.coo_matrix(scipy.io.mmread(path))
    value = scipy.sparse.coo_matrix(value)
    at = list(zip(got.row.tolist(), got.col.tolist()))
    check(len(set(at)) == len(at), "A has an entry twice")
    check(set(at) == set(zip(value.row.tolist(), value.col.tolist())), "A has other entries")
    check(numpy.allclose(got.toarray(), value.toarray(), rtol=1e-12), "A has other values")


def figures(text):
    """What moves, is stored and takes memory, of the tensors of each case by their first letters; what is None is not
    known."""
    keys = ("pattern", "bytes_received", "messages_received", "structure_bytes_received", "buffer_bytes", "home_bytes",
            "stored")
    every = [{name[0]: {key: tensor[key] for key in keys if key in tensor}
              for name, tensor in statement["tensors"].items() if name[1:] == str(number)}
             for number, statement in enumerate(json.loads(text)["statements"])]
    for tensor in [tensor for found in every for tensor in found.values()]:
        if tensor.get("stored"):
            tensor["most_stored"] = max(tensor["stored"])
    return every


def agree(planned, counted):
    """What depends on entries of results that are assembled is not known to plans."""
    unknown = {"home_bytes"} if planned.get("stored", []) is None else set()
    return all(value is None or key in unknown or value == counted[key] for key, value in planned.items())


def write_batch(batch, every_inputs, grid, folder):
    """The program and its inputs; returns the arguments of a command that executes it."""
    path = f"{folder}/program.distal"
    with open(path, "w", encoding="utf-8") as file:
        file.write(write_program(batch))
    arguments = [path, "--threads", "2", "-p", f"g={grid[0]}", "-p", f"h={grid[1]}"]
    for number, inputs in enumerate(every_inputs):
        rows, columns = inputs["B"].shape
        arguments += ["-p", f"n{number}={rows}", "-p", f"m{number}={columns}"]
        for key, value in inputs.items():
            file = f"{folder}/{key}{number}.in.{'mtx' if scipy.sparse.issparse(value) else 'npy'}"
            if scipy.sparse.issparse(value):
                scipy.io.mmwrite(file, value.tocoo(), precision=17)
            else:
                numpy.save(file, value)
            arguments += ["--in", f"{key}{number}={file}"]
    return arguments


def inputs_of(case, B):
    return {"B": B} | case.statement.inputs(*B.shape)


def plan(case, B, ranks):
    """On more ranks than can run here."""
    inputs, grid = inputs_of(case, B), (ranks, 1)
    with tempfile.TemporaryDirectory(prefix="distal-placed-") as folder:
        (planned,) = figures(distal(["plan", *write_batch([case], [inputs], grid, folder), "--stats=json"]).stdout)
    for tensor, of in case.volumes(inputs, ranks, grid).items():
        check(of.items() <= planned[tensor].items(), f"{tensor} has {planned[tensor]}, not {of}")


def check_case(case, inputs, grid, planned, counted, path):
    """What one statement of a batch moved, and its result."""
    B = inputs["B"]
    check(set(planned) == set(counted) == {"B", case.statement.text[0], *case.statement.extents},
          f"figures are of {set(planned)} and {set(counted)}")
    for tensor, of in planned.items():
        check(agree(of, counted[tensor]), f"{tensor}: plan {of} and run {counted[tensor]} have other figures")
    for tensor, of in case.volumes(inputs, grid[0] * grid[1], grid).items():
        check(of.items() <= counted[tensor].items(), f"{tensor} has {counted[tensor]}, not {of}")
    stored = len(set(B.nonzero()[0])) * B.shape[1] if case.levels["B"] == "{compressed, dense}" else B.nnz
    copies = grid[1] if "*" in case.places["B"] else 1
    check(sum(planned["B"]["stored"]) == stored * copies, "entries are on no rank, or on several")
    compare(path, case.statement.value(**inputs))


def run(batch, kinds, ranks):
    """One launch for all cases of a batch, which are checked one by one; whether each is as it should be."""
    grid = GRIDS[ranks] if "h" in batch[0].machine else (ranks, 1)
    every_inputs = [inputs_of(case, largest_square(MATRICES[kind]) if case.statement.square else MATRICES[kind])
                    for case, kind in zip(batch, kinds)]
    names = [f"{case.title}, {kind}, {ranks} ranks" for case, kind in zip(batch, kinds)]
    with tempfile.TemporaryDirectory(prefix="distal-placed-") as folder:
        arguments = write_batch(batch, every_inputs, grid, folder)
        results = [case.statement.text[0] for case in batch]
        paths = [f"{folder}/{result}{number}.{'npy' if result == 'y' else 'mtx'}" for number, result in enumerate(results)]
        outputs = [word for number, path in enumerate(paths) for word in ("--out", f"{results[number]}{number}={path}")]
        try:
            planned = figures(distal(["plan", *arguments, "--shared-memory", "on", "--stats=json"]).stdout)
            counted = figures(distal(["run", *arguments, "-q", "--check", "--stats=json", *outputs]).stdout)
            check(len(planned) == len(counted) == len(batch), "other numbers of statements")
        except Failure as failure:
            print(f"FAIL placed/{'; '.join(names)}: {failure}", flush=True)
            return [False]
        return [succeeds(check_case, name, case, inputs, grid, *of)
                for name, case, inputs, *of in zip(names, batch, every_inputs, planned, counted, paths)]


def succeeds(function, name, *arguments):
    try:
        function(*arguments)
        print(f"ok placed/{name}", flush=True)
        return True
    except Failure as failure:
        print(f"FAIL placed/{name}: {failure}", flush=True)
        return False


def batches():
    """Lists of the numbers of cases on the same machine, as one launch executes them together."""
    machines = {}
    for number, case in enumerate(CASES):
        machines.setdefault(case.machine, []).append(number)
    return [numbers[first:first + BATCH] for numbers in machines.values() for first in range(0, len(numbers), BATCH)]


def main():
    stay()
    names, results = list(MATRICES), []
    for numbers in batches():
        for at, ranks in enumerate(GRIDS):
            results += run([CASES[number] for number in numbers],
                           [names[(number + at) % len(names)] for number in numbers], ranks)
    for case in CASES:
        if case.volumes.__qualname__.startswith("indexed"):
            results.append(succeeds(plan, f"{case.title}, planned for {MANY_RANKS} ranks", case, MANY_COLUMNS, MANY_RANKS))
    return exit_status(not all(results))


if __name__ == "__main__":
    sys.exit(main())
