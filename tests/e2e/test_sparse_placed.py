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
            **({"C": matrix(rows, columns, 0.2, 6)} if "sum" in name else {}),
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


def figures(text):
    """What a plan says of its tensors, but for results, of which a plan does not know what they store."""
    tensors = json.loads(text)["statements"][0]["tensors"]
    return {name: {key: tensor[key] for key in ("pattern", "bytes_received", "messages_received")}
            for name, tensor in tensors.items()} | {"B": tensors["B"]}


# Of these operands a rank gets what the columns of its rows name and other ranks have: elements for each column.
NAMED = {"SpMV by rows, x in blocks": ("x", 1), "SpMM by rows": ("C", 3), "SDDMM by rows": ("F", 3)}


def named_bytes(B, ranks, width):
    """By the definition, from the coordinates alone."""
    rows, columns = (max(1, -(-extent // ranks)) for extent in B.shape)
    B = B.tocoo()
    return [8 * width * len({int(j) for i, j in zip(B.row, B.col) if i // rows == rank and j // columns != rank})
            for rank in range(ranks)]


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
        planned = figures(distal(["plan", *arguments, "--stats=json"]).stdout)
        out = f"{folder}/{result}.{'npy' if result == 'y' else 'mtx'}"
        done = distal(["run", *arguments, "-q", "--check", "--stats=json", "--out", f"{result}={out}"],
                      environment={"DISTAL_CFLAGS": "-O1"})
        check(figures(done.stdout) == planned, "plan and run have other figures")
        if name in NAMED:
            operand, width = NAMED[name]
            check(planned[operand]["bytes_received"] == named_bytes(B, ranks, width),
                  f"{operand} takes {planned[operand]['bytes_received']}, not {named_bytes(B, ranks, width)}")
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
            kind = "random" if at % 2 == 0 else names[(number + at) % len(names)]
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
