#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sparse matrix programs in every format, on matrices of many shapes, beside SciPy: files in and out are Matrix Market.

Prints `ok NAME` or `FAIL NAME: why` for each."""
import subprocess
import sys
import tempfile

import numpy
import scipy.io
import scipy.sparse

from _common import DISTAL, LIMIT_SECONDS, Failure, exit_status, stay

FORMATS = {
    "csr": "csr", "csc": "csc", "coo": "coo", "dcsr": "dcsr", "dcsc": "dcsr, order(1, 0)",
    "coo_columns": "coo, order(1, 0)", "bitmap": "{dense, bitmap}", "rows": "{compressed, dense}",
}
UNSUPPORTED = "not supported yet"


def random_matrix(rows, columns, density, seed):
    """Values that are positive, so that no sum of products is zero."""
    return scipy.sparse.random(rows, columns, density, "csr", random_state=seed,
                               data_rvs=lambda n: numpy.random.default_rng(seed).uniform(0.5, 1.5, n))


def powers(n, entries, seed):
    """Rows and columns with very different numbers of entries."""
    generator = numpy.random.default_rng(seed)
    rows, columns = (generator.zipf(1.4, entries) % n for _ in range(2))
    matrix = scipy.sparse.coo_matrix((generator.uniform(0.5, 1.5, entries), (rows, columns)), (n, n))
    return matrix.tocsr()


def arrow(n):
    """A full row, a full column and a diagonal."""
    matrix = scipy.sparse.eye(n, format="lil")
    matrix[n // 2] = 2
    matrix[:, n // 3] = 3
    return matrix.tocsr()


MATRICES = {
    "random": random_matrix(211, 173, 0.05, 1),
    "dense": random_matrix(40, 30, 1, 2),
    "empty": scipy.sparse.csr_matrix((50, 70)),
    "one entry": scipy.sparse.csr_matrix(([2.5], ([49], [0])), (50, 70)),
    "hypersparse": random_matrix(5000, 4000, 2e-6, 3),
    "band": scipy.sparse.diags([1., 2, 3, 4], [-7, 0, 1, 40], (300, 310), format="csr"),
    "uneven": powers(400, 3000, 4),
    "arrow": arrow(120),
    "one row": random_matrix(1, 900, 0.3, 5),
    "one column": random_matrix(900, 1, 0.3, 6),
    "last corner": scipy.sparse.csr_matrix((numpy.ones(4), ([0, 0, 99, 99], [0, 119, 0, 119])), (100, 120)),
}


def run(folder, program, shape, inputs, outputs, ranks):
    # Extents are params, so that all matrices share the compiled kernels.
    with open(f"{folder}/program.distal", "w", encoding="utf-8") as file:
        file.write("param n = 0, m = 0\n" + program)
    command = [DISTAL, "run", f"{folder}/program.distal", "-n", str(ranks), "-q", "--check",
               "-p", f"n={shape[0]}", "-p", f"m={shape[1]}"]
    for name, value in inputs.items():
        if scipy.sparse.issparse(value):
            path = f"{folder}/{name}.mtx"
            # As SciPy writes them, with 17 digits; entries in any order.
            scipy.io.mmwrite(path, value.tocoo(), precision=17)
        else:
            path = f"{folder}/{name}.npy"
            numpy.save(path, value)
        command += ["--in", f"{name}={path}"]
    for name, ending in outputs.items():
        command += ["--out", f"{name}={folder}/{name}.out.{ending}"]
    done = subprocess.run(command, capture_output=True, timeout=LIMIT_SECONDS, check=False, text=True)
    if done.returncode != 0:
        raise Failure(f"exit status {done.returncode}: {done.stderr.strip()}\n{program}")


def compare_dense(got, expected, what):
    if got.shape != expected.shape or not numpy.allclose(got, expected, rtol=1e-12, atol=1e-13):
        raise Failure(f"{what} differs by {numpy.abs(got - expected).max(initial=0):.3g}")


def compare_sparse(path, expected, what):
    """The same entries, with the same values."""
    got = scipy.sparse.coo_matrix(scipy.io.mmread(path))
    at = set(zip(got.row.tolist(), got.col.tolist()))
    expected = scipy.sparse.coo_matrix(expected)
    wanted = set(zip(expected.row.tolist(), expected.col.tolist()))
    if len(at) != got.nnz:
        raise Failure(f"{what} has an entry twice")
    if at != wanted:
        raise Failure(f"{what} has {len(at)} entries, expected {len(wanted)}, the first that differs is "
                      f"{min(at ^ wanted)}")
    compare_dense(got.tocsr()[tuple(zip(*wanted))] if wanted else numpy.zeros(0),
                  expected.tocsr()[tuple(zip(*wanted))] if wanted else numpy.zeros(0), what)


def numbered(formats, tensor, extents):
    """A copy of a tensor in each format."""
    return "".join(f"tensor {tensor}{n}({extents}): f64, {FORMATS[name]}\n" for n, name in enumerate(formats))


def to_dense(matrix, ranks):
    """Products of a matrix with vectors and dense matrices, from both sides, and sums, in all formats at once."""
    rows, columns = matrix.shape
    generator = numpy.random.default_rng(7)
    x, z, C = generator.random(columns), generator.random(rows), generator.random((columns, 5))
    program = ("tensor x(m): f64\ntensor z(n): f64\ntensor C(m, 5): f64\n" + numbered(FORMATS, "B", "n, m"))
    inputs, expected = {"x": x, "z": z, "C": C}, {}
    for n in range(len(FORMATS)):
        inputs[f"B{n}"] = matrix
        for name, shape, statement, value in (
                ("y", "n", "(i) = B{}(i, j) * x(j)", matrix @ x),
                ("w", "m", "(j) = B{}(i, j) * z(i)", matrix.T @ z),
                ("D", "n, 5", "(i, l) = B{}(i, j) * C(j, l)", matrix @ C),
                ("s", "n", "(i) = z(i) - 2 * B{}(i, j)", z - 2 * numpy.asarray(matrix.sum(axis=1)).ravel())):
            program += f"tensor {name}{n}({shape}): f64\n{name}{n}{statement.format(n)}\n"
            expected[f"{name}{n}"] = value
    with tempfile.TemporaryDirectory(prefix="distal-scipy-") as folder:
        run(folder, program, matrix.shape, inputs, dict.fromkeys(expected, "npy"), ranks)
        for name, value in expected.items():
            compare_dense(numpy.load(f"{folder}/{name}.out.npy"), value, f"{name[0]} of {list(FORMATS)[int(name[1:])]}")


def to_sparse(matrix, result, ranks):
    """Conversions, transpositions, sums and products, with results in one format."""
    rows, columns = matrix.shape
    other = random_matrix(rows, columns, 3 / max(columns, 3), 8)
    gram = matrix.T @ other  # all values are positive, so no entry is zero
    generator = numpy.random.default_rng(9)
    F, G = generator.uniform(0.5, 1.5, (rows, 3)), generator.uniform(0.5, 1.5, (3, columns))
    sampled = scipy.sparse.csr_matrix(matrix.multiply(F @ G))
    statements = {
        "A": ("n, m", "(i, j) = B(i, j)", matrix),
        "T": ("m, n", "(j, i) = B(i, j)", matrix.T),
        "S": ("n, m", "(i, j) = B(i, j) + C(i, j)", matrix + other),
        "U": ("n, m", "(i, j) = B(i, j) + C(i, j) + B(i, j)", matrix + other + matrix),
        "M": ("n, m", "(i, j) = B(i, j) * C(i, j)", matrix.multiply(other)),
        "P": ("m, m", "(j, k) = B(i, j) * C(i, k)", gram),
        "E": ("n, m", "(i, j) = B(i, j) * F(i, k) * G(k, j)", sampled),
    }
    program = ("tensor B(n, m): f64, csr\ntensor C(n, m): f64, csc\n"
               "tensor F(n, 3): f64\ntensor G(3, m): f64\n")
    for name, (extents, statement, _) in statements.items():
        program += f"tensor {name}({extents}): f64, {FORMATS[result]}\n{name}{statement}\n"
    with tempfile.TemporaryDirectory(prefix="distal-scipy-") as folder:
        run(folder, program, matrix.shape, {"B": matrix, "C": other, "F": F, "G": G}, dict.fromkeys(statements, "mtx"), ranks)
        for name, (_, _, value) in statements.items():
            if result != "rows":  # stores whole rows
                compare_sparse(f"{folder}/{name}.out.mtx", value, name)
            else:
                got = scipy.sparse.csr_matrix(scipy.io.mmread(f"{folder}/{name}.out.mtx"))
                compare_dense(got.toarray(), scipy.sparse.csr_matrix(value).toarray(), name)


def attempt(name, check, *arguments):
    try:
        check(*arguments)
        print(f"ok scipy/{name}")
        return 0
    except (Failure, OSError, ValueError, subprocess.TimeoutExpired) as failure:
        first, *rest = str(failure).split("\n")
        if UNSUPPORTED in first:
            print(f"-- scipy/{name}: {first}")
            return 0
        print(f"FAIL scipy/{name}: {first}")
        for line in rest:
            print(f"    {line}")
        return 1
    finally:
        sys.stdout.flush()


def main():
    stay()
    failed = 0
    for number, (name, matrix) in enumerate(MATRICES.items()):
        failed += attempt(f"{name}, dense results", to_dense, matrix, 1 + number % 2)
        result = list(FORMATS)[number % len(FORMATS)]
        if not (result == "bitmap" and matrix.shape[0] > 1000):
            failed += attempt(f"{name}, results in {result}", to_sparse, matrix, result, 1 + (number + 1) % 2)
    for result in ["csr", "coo", "csc"]:
        for name in ["random", "uneven", "empty"]:
            failed += attempt(f"{name}, results in {result} too", to_sparse, MATRICES[name], result, 1)
    return exit_status(failed)


if __name__ == "__main__":
    sys.exit(main())
