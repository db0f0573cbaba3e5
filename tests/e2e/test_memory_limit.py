#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs within a limit of memory: what the figures of a run say that a rank takes is refused where the limit is less.

Prints `ok NAME` or `FAIL NAME: why` for each case. A name on the command line runs the cases that contain it."""
import json
import os
import resource
import sys

from _common import check, distal, functions_named_test, run_cases

N = 20000


def run(text, inputs, ranks, *options, status=0):
    return distal(["run", "-e", text, "--ranks", str(ranks), "-q", *[word for source in inputs for word in ("--in", source)],
                   *options], status=status)


def refused_below_peak(text, *inputs, ranks=(1, 3)):
    """The statements of a run whose peak is more than its limit are not executed. Returns the figures, by ranks."""
    figures = {}
    for count in ranks:
        figures[count] = json.loads(run(text, inputs, count, "--stats=json").stdout)["statements"]
        peak = max(max(statement["peak_bytes"]) for statement in figures[count])
        done = run(text, inputs, count, "--memory-limit", str(peak - 1), status=1)
        check(done.stderr.count("error:") == 1, done.stderr)
    return figures


def test_shared_structure(folder):
    """Of tensors that share a structure, the first one has its bytes. A limit is kept by what has values only, and one
    of just what is needed is enough."""
    del folder
    results = [f"A{k}" for k in range(1, 13)]
    text = f"param n = {N}; tensor B(n, n): f64, csr" + "".join(
        f"; tensor {name}(n, n): f64, csr; {name}(i, j) = B(i, j) * {name[1:]}" for name in results)
    (last,) = refused_below_peak(text, "B=sparse:1:100000", ranks=[1])[1][-1:]
    (stored,) = last["tensors"]["B"]["stored"]
    for name, tensor in last["tensors"].items():
        expected = 8 * stored + (8 * (N + 1) + 4 * stored if name == "B" else 0)
        check(tensor["home_bytes"] == [expected], f"{name} takes {tensor['home_bytes']}, not {expected}")
    run(text, ["B=sparse:1:100000"], 1, "--memory-limit", str(last["peak_bytes"][0]))


def test_leading_structure(folder):
    """The values of results that have the first levels of an operand, below most of whose positions is one entry."""
    del folder
    text = "param n = 4000; tensor B(n, n, 9): f64, csf; tensor c(9): f64" + "".join(
        f"; tensor A{k}(n, n): f64, dcsr; A{k}(i, j) = B(i, j, k) * c(k) * {k}" for k in range(1, 13))
    figures = refused_below_peak(text, "B=sparse:1:50000", ranks=[1])[1][-1]["tensors"]
    check(figures["A1"]["home_bytes"] == [8 * figures["A1"]["stored"][0]], figures["A1"])
    # Each rank has the entries of its rows of both.
    text = "param n = 4000; machine M = grid(3); tensor B(n, n, 9): f64, csf; place B(i, j, k) -> M(i); " \
        "tensor c(9): f64; place c(k) -> M(*)" + "".join(
            f"; tensor A{k}(n, n): f64, dcsr; place A{k}(i, j) -> M(i); A{k}(i, j) = B(i, j, k) * c(k) * {k}"
            for k in range(1, 5))
    done = run(text, ["B=sparse:1:50000", "c=random:1"], 3, "--stats=json")
    figures = json.loads(done.stdout)["statements"][-1]["tensors"]["A1"]
    check(figures["home_bytes"] == [8 * stored for stored in figures["stored"]], figures)


def test_stages(folder):
    """What the stages of a statement have made, such as a sparse workspace and copies, is missing for later ones."""
    del folder
    text = "param n = 4000; tensor A(n, n): f64, csr; " + "".join(f"tensor {name}(n, n): f64, csr; " for name in "BCE")
    refused_below_peak(text + "A(i, l) = B(i, j) * C(j, k) * E(k, l)",
                       *[f"{name}=sparse:{name.encode()[0]}:40000" for name in "BCE"])


def test_moved(folder):
    """Copies of operands, indexed fetches, and results that go home."""
    del folder
    tensors = "param n = 3000; machine M = grid(3); tensor B(n, n): f64, csr; place B(i, j) -> M(i); " \
        "tensor C(n, n): f64, csr; place C(i, j) -> M(i); tensor D(n, 40): f64; place D(i, j) -> M(i); "
    inputs = ["B=sparse:1:60000", "C=sparse:2:60000"]
    for result, statement in (("A(n, n): f64, csc; place A(i, j) -> M(j)", "A(i, j) = B(i, j) + C(i, j)"),
                              ("A(n, n): f64, csr; place A(i, j) -> M(i)", "A(i, k) = B(i, j) * C(j, k)"),
                              ("A(n, n): f64, dcsr; place A(i, j) -> M(j)", "A(i, k) = B(i, j) * C(j, k)"),
                              ("A(n, n): f64, csr; place A(i, j) -> M(j)", "A(i, j) += B(i, j) + C(j, i)"),
                              ("A(n, 40): f64; place A(i, j) -> M(i)", "A(i, k) = (B(i, j) + C(i, j)) * D(j, k)")):
        refused_below_peak(f"{tensors}tensor {result}; {statement}", *inputs, ranks=[3])


def test_list_of_text(folder):
    """The list in which the elements of a dense tensor come from a text, three times as long as they are."""
    path = f"{folder}/B.mtx"
    with open(path, "w", encoding="ascii") as file:
        file.write("%%MatrixMarket matrix array real general\n300 300\n" + "1\n" * 90000)
    text = "param n = 300; tensor A(n, n): f64; tensor B(n, n): f64; A(i, j) = B(i, j)"
    for ranks, least, enough in ((1, "3M", "4M"), (3, "3M", "7M")):
        done = run(text, [f"B={path}"], ranks, "--memory-limit", least, status=1)
        check(done.stderr.count("error:") == 1 and "B" in done.stderr, done.stderr)
        run(text, [f"B={path}"], ranks, "--memory-limit", enough)


def test_list_of_output(folder):
    """The list of a result that goes to a file: 24 bytes for each entry, beside all that is there."""
    text = "param n = 40000; tensor A(n, n): f64, csr; tensor B(n, n): f64, csr; tensor C(n, n): f64, csr; " \
        "A(i, j) = B(i, j) + C(i, j)"
    inputs = ["B=sparse:1:200000", "C=sparse:5:200000"]
    (statement,) = json.loads(run(text, inputs, 1, "--stats=json").stdout)["statements"]
    needed = statement["peak_bytes"][0] + 24 * statement["tensors"]["A"]["stored"][0]
    for ending in ("mtx", "tns"):
        path = f"{folder}/A.{ending}"
        done = run(text, inputs, 1, "--out", f"A={path}", "--memory-limit", str(needed - 1), status=1)
        check("to list" in done.stderr and not os.path.exists(path), done.stderr)
        run(text, inputs, 1, "--out", f"A={path}", "--memory-limit", str(needed))


def test_ahead(folder):
    """What dense tensors take is compared with the limit before inputs are read, but no elements that are fetched at
    entries, as these are not known yet: the whole footprint of x would be 8 MB."""
    text = "param n = 1000000; machine M = grid(3); tensor B(n, n): f64, dcsr; tensor x(n): f64; tensor y(n): f64; " \
        "place B(i, j) -> M(i); place x(j) -> M(j); place y(i) -> M(i); y(i) = B(i, j) * x(j)"
    refused_below_peak(text, "B=sparse:1:1000", ranks=[3])
    run(text, ["B=sparse:1:1000"], 3, "--memory-limit", "6M")
    done = run(text, [f"B={folder}/none.mtx"], 3, "--memory-limit", "5M", status=1)
    check("rank 0 needs 5.1 MiB of memory, more than the limit of 5.0 MiB" in done.stderr, done.stderr)


def test_balanced(folder):
    """Parts that entries balance are compared with the limit when these are known: one entry in each row cuts none, as
    entries in all places would."""
    text = "param m = 20000; machine M = grid(2); tensor A(3, m): f64; tensor B(3, 2): f64, csr; tensor C(2, m): f64; " \
        "place A(i, j) -> M(i); place B(i, j) -> M(~fuse(i, j)); place C(i, j) -> M(*); A(i, j) = B(i, k) * C(k, j)"
    with open(f"{folder}/B.mtx", "w", encoding="utf-8") as file:
        file.write("%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 1\n2 2 1\n3 1 1\n")
    refused_below_peak(text, f"B={folder}/B.mtx", ranks=[2])
    run(text, [f"B={folder}/B.mtx"], 2, "--memory-limit", str(4 * 20000 * 8 + 1000))


def test_many_statements(folder):
    """To compare the statements of a repetition with a limit takes about as long as to plan them."""
    text = "param n = 64, p = 16; machine M = grid(p); tensor A(n): f64; tensor B(n): f64; place A(x) -> M(x); " \
        "place B(x) -> M(x)\nrepeat 3 {\n" + "A(i) = B(i)\nB(i) = A(i)\n" * 150 + "}\n"
    seconds = []
    for options in ([], ["--memory-limit", "1M"]):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        distal(["plan", "-e", text, *options])
        seconds.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    check(seconds[1] < 5 * seconds[0] + 1, f"{seconds[1]:.1f} s, and {seconds[0]:.1f} s without a limit")


if __name__ == "__main__":
    sys.exit(run_cases(functions_named_test("memory_limit", globals())))
