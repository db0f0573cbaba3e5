#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sparse tensors on 1 to 12 ranks, beside SciPy: every run is checked, and moves what `plan` says.

Prints `ok NAME` or `FAIL NAME: why` for each."""
import json
import sys
import tempfile

import numpy
import scipy.io
import scipy.sparse

from _common import Failure, check, distal

ROWS = "machine M = grid(g)\nplace B(i, j) -> M(i)\n"
BLOCKS = "param h = 1\nmachine M = grid(g, h)\nplace B(i, j) -> M(i, j)\n"
WEIGHTED = "machine M = grid(g)\nplace B(i, j) -> M(weighted(i))\n"
ENTRIES = "machine M = grid(g)\nplace B(i, j) -> M(~fuse(i, j))\n"
SPMV = "tensor x(m): f64\ntensor y(n): f64\ny(i) = B(i, j) * x(j)\n"

# Statements by name: levels of B (or of the tensors of the statement), the program, its result.
PROGRAMS = {
    "SpMV by rows": ("csr", ROWS + SPMV + "place y(i) -> M(i)\nplace x(j) -> M(*)\n", "y"),
    "SpMV by rows, x in blocks": ("dcsr", ROWS + SPMV + "place y(i) -> M(i)\nplace x(j) -> M(j)\n", "y"),
    "SpMV by columns": ("csc", "machine M = grid(g)\nplace B(i, j) -> M(j)\n" + SPMV + "place y(i) -> M(i)\n", "y"),
    "SpMV in blocks": ("coo", BLOCKS + SPMV, "y"),
    "SpMV block-cyclic": ("csr", "machine M = grid(g)\nplace B(i, j) -> M(cyclic(i, 3))\n" + SPMV, "y"),
    "SpMM by rows": ("csr", ROWS + "tensor C(m, 3): f64\ntensor y(n, 3): f64\ny(i, k) = B(i, j) * C(j, k)\n"
                     "place y(i, k) -> M(i)\nplace C(j, k) -> M(j)\n", "y"),
    "sum by rows": ("csr", ROWS + "tensor C(n, m): f64, dcsr\ntensor A(n, m): f64, csr\nplace C(i, j) -> M(i)\n"
                    "place A(i, j) -> M(i)\nA(i, j) = B(i, j) + 2 * C(i, j)\n", "A"),
    "SDDMM by rows": ("csr", ROWS + "tensor E(n, 3): f64\ntensor F(3, m): f64\ntensor A(n, m): f64, csr\n"
                      "place E(i, k) -> M(i)\nplace F(k, j) -> M(j)\nplace A(i, j) -> M(i)\n"
                      "A(i, j) = B(i, j) * E(i, k) * F(k, j)\n", "A"),
    "product by rows": ("csr", ROWS + "tensor C(m, n): f64, csr\ntensor A(n, n): f64, dcsr\nplace C(j, k) -> M(*)\n"
                        "place A(i, k) -> M(i)\nA(i, k) = B(i, j) * C(j, k)\n", "A"),
    "product, C by rows": ("csr", ROWS + "tensor C(m, n): f64, csr\ntensor A(n, n): f64, csr\nplace C(j, k) -> M(j)\n"
                           "place A(i, k) -> M(i)\nA(i, k) = B(i, j) * C(j, k)\n", "A"),
    "product, C by columns": ("csr", ROWS + "tensor C(m, n): f64, csc\ntensor A(n, n): f64, csr\n"
                              "place C(j, k) -> M(k)\nplace A(i, k) -> M(k)\nA(i, k) = B(i, j) * C(j, k)\n", "A"),
    "product, C block-cyclic": ("coo", ROWS + "tensor C(m, n): f64, dcsr\ntensor A(n, n): f64, dcsr\n"
                                "place C(j, k) -> M(cyclic(j, 2))\nplace A(i, k) -> M(*)\n"
                                "A(i, k) = B(i, j) * C(j, k)\n", "A"),
    "product, nothing else placed": ("csr", ROWS + "tensor C(m, n): f64, csr\ntensor A(n, n): f64, csr\n"
                                     "A(i, k) = B(i, j) * C(j, k)\n", "A"),
    "sum, placed otherwise": ("csr", ROWS + "tensor C(n, m): f64, csc\ntensor A(n, m): f64, csr\n"
                              "place C(i, j) -> M(j)\nplace A(i, j) -> M(i)\nA(i, j) = B(i, j) + 2 * C(i, j)\n", "A"),
    "conversion, rows to columns": ("csr", ROWS + "tensor A(n, m): f64, csc\nplace A(i, j) -> M(j)\n"
                                    "A(i, j) = B(i, j)\n", "A"),
    "conversion, blocks to one rank": ("dcsr", BLOCKS + "tensor A(n, m): f64, coo\nplace A(i, j) -> M(0, 0)\n"
                                       "A(i, j) = B(i, j)\n", "A"),
    "transpose, rows to rows": ("csr", ROWS + "tensor A(m, n): f64, csr\nplace A(i, j) -> M(i)\nA(i, j) = B(j, i)\n",
                                "A"),
    "transpose, rows to cyclic rows": ("csr", ROWS + "tensor A(m, n): f64, dcsr\nplace A(i, j) -> M(cyclic(i, 2))\n"
                                       "A(i, j) = B(j, i)\n", "A"),
    "redistribution": ("coo", BLOCKS + "tensor A(n, m): f64, coo\nplace A(i, j) -> M(j, i)\nA(i, j) = B(i, j)\n", "A"),
    "SpMV by weighted rows": ("csr", WEIGHTED + SPMV + "place y(i) -> M(weighted(i, B))\nplace x(j) -> M(j)\n", "y"),
    "SpMV by stored rows": ("dcsr", WEIGHTED.replace("weighted(i)", "~i") + SPMV +
                            "place y(i) -> M(weighted(i, B))\nplace x(j) -> M(j)\n", "y"),
    "SpMV by stored columns": ("csc", WEIGHTED.replace("weighted(i)", "~j") + SPMV +
                               "place y(i) -> M(i)\nplace x(j) -> M(weighted(j, B))\n", "y"),
    "SpMV by entries": ("csr", ENTRIES + SPMV + "place y(i) -> M(i)\nplace x(j) -> M(j)\n", "y"),
    "SpMV by entries of a list": ("coo", ENTRIES + SPMV + "place y(i) -> M(i)\nplace x(j) -> M(j)\n", "y"),
    "SpMV by entries in columns": ("csc", ENTRIES.replace("~fuse(i, j)", "~fuse(j, i)") + SPMV +
                                   "place y(i) -> M(i)\nplace x(j) -> M(j)\n", "y"),
    "SpMV by entries, on all levels": ("dcsr", "param h = 1\nmachine M = node grid(g), core grid(h)\n"
                                       "place B(i, j) -> M.node(~fuse(i, j)), B(i, j) -> M.core(~fuse(i, j))\n" + SPMV,
                                       "y"),
    "SDDMM by entries": ("csr", ENTRIES + "tensor E(n, 3): f64\ntensor F(3, m): f64\ntensor A(n, m): f64, csr\n"
                         "place E(i, k) -> M(i)\nplace F(k, j) -> M(j)\nplace A(i, j) -> M(~fuse(i, j))\n"
                         "A(i, j) = B(i, j) * E(i, k) * F(k, j)\n", "A"),
    "SpMV of rows by entries": ("csr", ROWS + SPMV + "place x(j) -> M(j)\nplace y(i) -> M(i)\nschedule y { "
                                "collapse(i, j, f); pos(f, p, B(i, j)); divide(p, po, pi, g); distribute(po) }\n", "y"),
    "SpMV of rows by columns": ("csr", ROWS + SPMV + "place x(j) -> M(j)\nplace y(i) -> M(i)\n"
                                "schedule y { distribute({j}, {jo}, {ji}, M) }\n", "y"),
}
GRIDS = {1: (1, 1), 2: (1, 2), 3: (3, 1), 4: (2, 2), 6: (3, 2), 8: (2, 4), 12: (4, 3)}


def matrix(rows, columns, density, seed):
    return scipy.sparse.random(rows, columns, density, "csr", random_state=seed,
                               data_rvs=lambda n: numpy.random.default_rng(seed).uniform(0.5, 1.5, n))


MATRICES = {
    "random": matrix(37, 29, 0.1, 1), "wide": matrix(5, 101, 0.2, 2), "empty": scipy.sparse.csr_matrix((7, 11)),
    "one row": matrix(1, 23, 0.5, 3),
    "full row": scipy.sparse.csr_matrix(numpy.ones((1, 13)).repeat(11, 0) * (numpy.arange(11) == 4)[:, None]),
}


def expected(name, inputs):
    B = inputs["B"]
    if "conversion" in name or "redistribution" in name:
        return B
    if "transpose" in name:
        return B.T
    if "sum" in name:
        return B + 2 * inputs["C"]
    if "SDDMM" in name:
        return scipy.sparse.csr_matrix(B.multiply(inputs["E"] @ inputs["F"]))
    return B @ inputs["x" if "SpMV" in name else "C"]


def operands(name, B):
    rows, columns = B.shape
    generator = numpy.random.default_rng(5)
    return {"B": B,
            **({"x": generator.random(columns)} if "SpMV" in name else {}),
            **({"C": generator.random((columns, 3))} if "SpMM" in name else {}),
            **({"C": matrix(rows, columns, 0.2, 6)} if name.startswith("sum") else {}),
            **({"C": matrix(columns, rows, 0.2, 7)} if "product" in name else {}),
            **({"E": generator.random((rows, 3)), "F": generator.random((3, columns))} if "SDDMM" in name else {})}


def compare(folder, result, value):
    if result == "y":
        got = numpy.load(f"{folder}/y.npy")
        check(numpy.allclose(got, value, rtol=1e-12), f"y differs by {numpy.abs(got - value).max(initial=0):.3g}")
        return
    got = scipy.sparse.coo_matrix(scipy.io.mmread(f"{folder}/A.mtx"))
    value = scipy.sparse.coo_matrix(value)
    at = list(zip(got.row.tolist(), got.col.tolist()))
    check(len(set(at)) == len(at), "A has an entry twice")
    check(set(at) == set(zip(value.row.tolist(), value.col.tolist())), "A has other entries")
    check(numpy.allclose(got.toarray(), value.toarray(), rtol=1e-12), "A has other values")


# Of these operands a rank gets what the columns of its rows name and other ranks have: elements for each column.
NAMED = {"SpMV by rows, x in blocks": ("x", 1), "SpMM by rows": ("C", 3), "SDDMM by rows": ("F", 3)}


def figures(text, name):
    """What moves, and what operands store: of results, plans do not know it."""
    tensors = json.loads(text)["statements"][0]["tensors"]
    keys = ("pattern", "bytes_received", "messages_received", "structure_bytes_received")
    found = {name: {key: tensor[key] for key in keys if key in tensor} for name, tensor in tensors.items()}
    for operand in {NAMED[name][0]} if name in NAMED else ():
        found[operand]["buffer_bytes"] = tensors[operand]["buffer_bytes"]
    found["B"] |= {key: tensors["B"][key] for key in ("stored", "home_bytes")}
    return found


def indexed_bytes(B, ranks, width):
    """By the definition, from the coordinates alone."""
    rows, columns = (max(1, -(-extent // ranks)) for extent in B.shape)
    B = B.tocoo()
    return [8 * width * len({int(j) for i, j in zip(B.row, B.col) if i // rows == rank and j // columns != rank})
            for rank in range(ranks)]


def entry_figures(name, B, ranks):
    """Of parts of equally many entries: how many, and what each lacks of the other tensors, from the coordinates."""
    B = B.tocoo()
    by_column = "columns" in name
    entries = sorted(zip(B.row.tolist(), B.col.tolist()), key=lambda e: (e[1], e[0]) if by_column else e)
    size = max(1, -(-len(entries) // ranks))
    parts = [entries[min(rank * size, len(entries)):(rank + 1) * size] for rank in range(ranks)]
    rows, columns = block(B.shape[0], ranks), block(B.shape[1], ranks)
    named_rows = [sum(rows(i) != rank for i in {i for i, _ in part}) for rank, part in enumerate(parts)]
    named_columns = [sum(columns(j) != rank for j in {j for _, j in part}) for rank, part in enumerate(parts)]
    found = {"B": [len(part) for part in parts]}
    if "SDDMM" in name:
        return found | {"E": [24 * count for count in named_rows], "F": [24 * count for count in named_columns]}
    if by_column:
        return found
    # Rows from the first to the last entry are partial results.
    between = [sum(rows(i) != rank for i in range(part[0][0], part[-1][0] + 1)) if part else 0
               for rank, part in enumerate(parts)]
    return found | {"x": [8 * count for count in named_columns], "y": [8 * count for count in between]}


def least_load(counts, parts):
    """The least that the part with the most entries can have, of contiguous rows: by trying every last part."""
    before = [sum(counts[:i]) for i in range(len(counts) + 1)]
    least = list(before)
    for _ in range(parts - 1):
        least = [min(max(least[first], before[last] - before[first]) for first in range(last + 1))
                 for last in range(len(before))]
    return least[-1]


def block(extent, ranks):
    size = max(1, -(-extent // ranks))
    return lambda x: x // size


def fetched_rows(B, C, ranks, owner):
    """Entries of C, whose rows have owners, in the rows that columns of my rows of B name."""
    B, C, mine = B.tocoo(), C.tocoo(), block(B.shape[0], ranks)
    named = [{int(j) for i, j in zip(B.row, B.col) if mine(i) == rank} for rank in range(ranks)]
    return [sum(int(j) in named[rank] and owner(j) != rank for j in C.row) for rank in range(ranks)]


def changed(entries, before, after, ranks):
    """Entries that come to each rank, as their owners before and after are other ones."""
    counts = [0] * ranks
    for i, j in zip(entries.row, entries.col):
        counts[after(i, j)] += before(i, j) != after(i, j)
    return counts


def moved_entries(name, inputs, grid):
    """Of the tensors of which entries move, how many come to each rank (or leave it with a result): by definition."""
    ranks = grid[0] * grid[1]
    B = inputs["B"].tocoo()
    rows, columns = block(B.shape[0], ranks), block(B.shape[1], ranks)
    across, down = block(B.shape[0], grid[0]), block(B.shape[1], grid[1])

    def cyclic(x):
        return x // 2 % ranks

    def at(i, j):
        return across(i) * grid[1] + down(j)

    if name == "product, C by rows":
        return {"C": fetched_rows(B, inputs["C"], ranks, columns)}
    if name == "product, C block-cyclic":
        A = (inputs["B"] @ inputs["C"]).tocoo()
        return {"C": fetched_rows(B, inputs["C"], ranks, cyclic),
                "A": [(ranks - 1) * sum(rows(i) == rank for i in A.row) for rank in range(ranks)]}
    if name == "sum, placed otherwise":
        return {"C": changed(inputs["C"].tocoo(), lambda i, j: columns(j), lambda i, j: rows(i), ranks)}
    if name == "conversion, rows to columns":
        return {"B": changed(B, lambda i, j: rows(i), lambda i, j: columns(j), ranks)}
    if name == "conversion, blocks to one rank":
        return {"B": changed(B, at, lambda i, j: 0, ranks)}
    if name == "transpose, rows to rows":
        return {"B": changed(B, lambda i, j: rows(i), lambda i, j: columns(j), ranks)}
    if name == "transpose, rows to cyclic rows":
        return {"B": changed(B, lambda i, j: rows(i), lambda i, j: cyclic(j), ranks)}
    if name == "redistribution":
        over, along = block(B.shape[1], grid[0]), block(B.shape[0], grid[1])
        return {"B": changed(B, at, lambda i, j: over(j) * grid[1] + along(i), ranks)}
    if name == "SpMV of rows by columns":
        return {"B": changed(B, lambda i, j: rows(i), lambda i, j: columns(j), ranks)}
    return {}


def run(name, B, ranks):
    levels, program, result = PROGRAMS[name]
    inputs = operands(name, B)
    with tempfile.TemporaryDirectory(prefix="distal-placed-") as folder:
        path = f"{folder}/program.distal"
        with open(path, "w", encoding="utf-8") as file:
            file.write(declared(program, levels))
        grid = GRIDS[ranks] if "param h" in program else (ranks, 1)
        sizes = {"n": B.shape[0], "m": B.shape[1], "g": grid[0], **({"h": grid[1]} if "param h" in program else {})}
        arguments = [path] + [word for key, value in sizes.items() for word in ("-p", f"{key}={value}")]
        for key, value in inputs.items():
            if scipy.sparse.issparse(value):
                scipy.io.mmwrite(f"{folder}/{key}.in.mtx", value.tocoo(), precision=17)
                arguments += ["--in", f"{key}={folder}/{key}.in.mtx"]
            else:
                numpy.save(f"{folder}/{key}.in.npy", value)
                arguments += ["--in", f"{key}={folder}/{key}.in.npy"]
        planned = figures(distal(["plan", *arguments, "--stats=json"]).stdout, name)
        out = f"{folder}/{result}.{'npy' if result == 'y' else 'mtx'}"
        done = distal(["run", *arguments, "-q", "--check", "--stats=json", "--out", f"{result}={out}"],
                      environment={"DISTAL_CFLAGS": "-O1"})
        counted = figures(done.stdout, name)
        for tensor, of in planned.items():
            check(None in of.values() or of == counted[tensor],
                  f"{tensor}: plan {of} and run {counted[tensor]} have other figures")
        for tensor, entries in moved_entries(name, inputs, grid).items():
            moved = {"bytes_received": [8 * count for count in entries],
                     "structure_bytes_received": [8 * count for count in entries]}  # two coordinates of 4 bytes
            check(moved.items() <= counted[tensor].items(), f"{tensor} moved {counted[tensor]}, not {moved}")
        if "by entries" in name and "levels" not in name:
            for tensor, count in entry_figures(name, B, ranks).items():
                if tensor == "B":
                    check("of rows" in name or planned["B"]["stored"] == count,
                          f"ranks store {planned['B']['stored']} entries, not {count}")
                else:
                    check(planned[tensor]["bytes_received"] == count,
                          f"{tensor} moves {planned[tensor]['bytes_received']}, not {count}")
        if "weighted rows" in name:
            least = least_load(B.tocsr().getnnz(axis=1).tolist(), ranks)
            check(max(planned["B"]["stored"]) == least, f"a rank stores {planned['B']['stored']}, not {least} at most")
        if name in NAMED:
            operand, width = NAMED[name]
            check(planned[operand]["bytes_received"] == indexed_bytes(B, ranks, width),
                  f"{operand} takes {planned[operand]['bytes_received']}, not {indexed_bytes(B, ranks, width)}")
        check(sum(planned["B"]["stored"]) == B.nnz, "entries are on no rank, or on several")
        compare(folder, result, expected(name, inputs))


def declared(program, levels):
    """Places stand before tensors in the table above: the language wants them after."""
    lines = program.split("\n")
    order = ("param", "machine", "tensor", "place")
    first = [line for key in order for line in lines if line.startswith(key)]
    rest = [line for line in lines if line and not line.startswith(order)]
    first.insert(sum(line.startswith(("param", "machine")) for line in first), f"tensor B(n, m): f64, {levels}")
    return "\n".join(["param n = 0, m = 0, g = 1", *first, *rest]) + "\n"


def main():
    failed = 0
    names = list(MATRICES)
    for number, name in enumerate(PROGRAMS):
        for at, ranks in enumerate(GRIDS):
            kind = names[(number + at) % len(names)]
            try:
                run(name, MATRICES[kind], ranks)
                print(f"ok placed/{name}, {kind}, {ranks} ranks")
            except Failure as failure:
                failed += 1
                print(f"FAIL placed/{name}, {kind}, {ranks} ranks: {failure}")
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
