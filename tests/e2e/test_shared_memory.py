#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of a node read each other's memory, or get messages where the system does not let one of them: with the same
results, and what moves is as planned.

Prints `ok NAME` or `FAIL NAME: why` for each case. A name on the command line runs the cases that contain it."""
import json
import sys

from _common import check, distal, example, functions_named_test, params, preloaded, run_cases

SUMMA = [example("summa"), *params("n=40 chunk=8 gx=2 gy=2")]
MANY = """param n = 300
machine M = grid(n)
tensor A(n, n): f64
tensor B(n, n): f64
place A(x, y) -> M(y)
place B(x, y) -> M(x)
A(i, j) = B(i, j)
"""

SPMV = """param n = 100
machine M = grid(4)
tensor a(n): f64
tensor B(n, n): f64, csr
tensor c(n): f64
place a(x) -> M(x)
place B(x, y) -> M(x)
place c(x) -> M(2)
a(i) = B(i, j) * c(j)
"""

# Each rank owns three pieces of C, which have different coordinates of the same mode.
SEVERAL_PIECES = """machine M = grid(6)
machine L = grid(4, 3)
tensor A(24): f64
tensor B(24, 24, 24): f64, {compressed, compressed, compressed}
tensor C(24, 24): f64
place A(x) -> M(x)
place B(x, y, z) -> M(x)
place C(x, y) -> L(PLACE)
A(i) = B(i, j, k) * C(j, k)
"""


# Of C each rank uses the rows that its entries of B name; of B on a grid the columns that others have at home as well.
SPGEMM = """param n = 90
param p = 1
param q = 1
machine M = grid(p, q)
tensor A(n, n): f64, csr
tensor B(n, n): f64, csr
tensor C(n, n): f64, LEVELS
place A(x, y) -> M(x, y)
place B(x, y) -> M(x, y)
place C(x, y) -> M(PLACE)
A(i, j) = B(i, k) * C(k, j)
"""


def figures(arguments, environment=None, status=0):
    done = distal(["run", *arguments, "--stats=json", "--check", "-q"], environment=environment, status=status)
    return json.loads(done.stdout)


def moved(run):
    return [[statement["bytes_received"], statement["messages_received"]] for statement in run["statements"]]


def refused_by_system(what, nodes="on"):
    return figures([*SUMMA, "--shared-memory", nodes], {**preloaded("no_shared_memory"), "SHARED_MEMORY_FAILS": what})


def test_on_and_off(folder):
    del folder
    on, off = (figures([*SUMMA, "--shared-memory", state]) for state in ("on", "off"))
    check(on["shared"] == ["B", "C"] and off["shared"] == [], f"{on['shared']}, {off['shared']}")
    check(moved(on) == moved(off), f"{moved(on)} with shared memory, {moved(off)} without")


def test_refused_by_system(folder):
    """One rank cannot, so none of its node does."""
    del folder
    expected = moved(figures([*SUMMA, "--shared-memory", "off"]))
    for what in ("create", "open", "files", "addresses"):
        run = refused_by_system(what)
        check(run["shared"] == [] and moved(run) == expected, f"{what}: {run['shared']}, {moved(run)}")


def test_refused_on_one_node(folder):
    """Those of another node read each other's all the same."""
    del folder
    expected = moved(figures([*SUMMA, "--shared-memory", "off"]))
    for what in ("create", "open", "files"):
        run = refused_by_system(what, "2")
        check(moved(run) == expected, f"{what}: {moved(run)}")


def test_no_mappings(folder):
    """What cannot be mapped is an error of all ranks, before anything is computed."""
    del folder
    done = distal(["run", *SUMMA], environment={**preloaded("no_shared_memory"), "SHARED_MEMORY_FAILS": "map"}, status=1)
    check("rank 1 cannot map the memory of its neighbours" in done.stderr, done.stderr)


def test_received_once(folder):
    """Rank 0 receives what ranks 0 and 1 of a node use, and rank 1 copies it from there."""
    program = f"{folder}/spmv.distal"
    with open(program, "w", encoding="utf-8") as file:
        file.write(SPMV)
    run = [program, "--ranks", "4", "--in", "B=sparse:1:4000"]
    on, off = (figures([*run, "--shared-memory", state]) for state in ("2", "off"))
    check(moved(on) == moved(off), f"{moved(on)} with shared memory, {moved(off)} without")
    planned = json.loads(distal(["plan", *run, "--shared-memory", "2", "--stats=json"]).stdout)
    buffers = [of["statements"][0]["tensors"]["c"]["buffer_bytes"] for of in (planned, on)]
    check(buffers[0] == buffers[1], f"planned buffers of {buffers[0]} bytes, and they have {buffers[1]}")
    done = distal(["run", *run, "--shared-memory", "2"],
                  environment={**preloaded("no_shared_memory"), "SHARED_MEMORY_FAILS": "map"}, status=1)
    check("rank 1 cannot map the memory of its neighbours" in done.stderr, done.stderr)


def test_several_pieces(folder):
    """What a node receives of one owner is of several of its pieces, or between gaps: in parts of their own."""
    for place in ("x, y", "y, x", "cyclic(y, 3), cyclic(x, 2)"):
        program = f"{folder}/several.distal"
        with open(program, "w", encoding="utf-8") as file:
            file.write(SEVERAL_PIECES.replace("PLACE", place))
        for source in ("random:1:0.3", "random:2:0.02"):
            run = [program, "--ranks", "6", "--in", f"B={source}"]
            off = moved(figures([*run, "--shared-memory", "off"]))
            for nodes in ("3", "2"):
                on = figures([*run, "--shared-memory", nodes])
                planned = json.loads(distal(["plan", *run, "--shared-memory", nodes, "--stats=json"]).stdout)
                buffers = [of["statements"][0]["tensors"]["C"]["buffer_bytes"] for of in (planned, on)]
                check(moved(on) == off, f"{place}, {nodes} ranks a node: {moved(on)}, {off} without shared memory")
                check(buffers[0] == buffers[1], f"{place}, {nodes} ranks a node: planned buffers of {buffers[0]} bytes, "
                      f"and they have {buffers[1]}")


def test_entries_received_once(folder):
    """So are the entries of sparse operands, with their structure, on nodes of equal and other sizes."""
    program = f"{folder}/spgemm.distal"

    def of_tensors(run, figure):
        return [run["statements"][0]["tensors"][tensor][figure] for tensor in ("B", "C")]

    for levels, place, grid, nodes in (("csc", "y, *", (6, 1), "4"), ("coo", "cyclic(x, 7), *", (7, 1), "3"),
                                       ("{compressed, dense}", "y, x", (3, 2), "4"), ("dcsr", "0, 0", (4, 1), "3"),
                                       ("csr", "x, *", (5, 1), "2")):
        with open(program, "w", encoding="utf-8") as file:
            file.write(SPGEMM.replace("LEVELS", levels).replace("PLACE", place))
        for entries in (0, 700):
            run = [program, *params(f"p={grid[0]} q={grid[1]}"), "--ranks", str(grid[0] * grid[1]),
                   "--in", f"B=sparse:1:{entries}", "--in", "C=sparse:2:700"]
            off, on = (figures([*run, "--repeat", "2", "--shared-memory", state]) for state in ("off", nodes))
            planned = json.loads(distal(["plan", *run, "--shared-memory", nodes, "--stats=json"]).stdout)
            for figure in ("bytes_received", "messages_received", "structure_bytes_received"):
                first, second = of_tensors(off, figure), of_tensors(on, figure)
                check(first == second, f"{levels} at {place}: {figure} is {second}, and {first} in messages")
            for figure in ("bytes_received", "structure_bytes_received", "buffer_bytes"):
                first, second = of_tensors(planned, figure), of_tensors(on, figure)
                check(first == second, f"{levels} at {place}: {figure} is {second}, planned {first}")
    done = distal(["run", *run, "--shared-memory", "2"],
                  environment={**preloaded("no_shared_memory"), "SHARED_MEMORY_FAILS": "map"}, status=1)
    check("rank 1 cannot map the memory of its neighbours" in done.stderr, done.stderr)


def test_many_pieces(folder):
    """Of hundreds of processors on a rank, each has a piece of its own."""
    program = f"{folder}/many.distal"
    with open(program, "w", encoding="utf-8") as file:
        file.write(MANY)
    for ranks in ("2", "3"):
        run = figures([program, "--ranks", ranks])
        check("B" in run["shared"], run["shared"])


if __name__ == "__main__":
    sys.exit(run_cases(functions_named_test("shared_memory", globals())))
