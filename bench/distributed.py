#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times kernels with sparse operands on several ranks of one thread each, beside those of PETSc on as many, on the
same matrices. Operands are in blocks of rows. Results are compared with those of SciPy before they are timed. Also
printed is what the inspector takes, which finds once for a structure what moves, in executions."""
import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile

os.environ["OMP_NUM_THREADS"] = "1"

import numpy  # noqa: E402  (it reads OMP_NUM_THREADS)
import scipy.sparse  # noqa: E402

import sparse  # noqa: E402

HEAD = "param n = 0, r = 0, g = 1\nmachine M = grid(g)\ntensor B(n, n): f64, csr\nplace B(i, j) -> M(i)\n"


@dataclasses.dataclass
class Kernel:
    program: str
    petsc: str  # the name of the kernel there
    columns: int = 1
    result: str = "y"


KERNELS = {
    "spmv": Kernel("tensor y(n): f64\ntensor x(n): f64\nplace y(i) -> M(i)\nplace x(j) -> M(j)\n"
                   "y(i) = B(i, j) * x(j)\n", "spmv"),
    "spmm32": Kernel("tensor y(n, r): f64\ntensor x(n, r): f64\nplace y(i, k) -> M(i)\nplace x(j, k) -> M(j)\n"
                     "y(i, k) = B(i, j) * x(j, k)\n", "spmm", 32),
}


def sources(options):
    """By name: the extent and what distal generates the matrix by."""
    scale = 20 + round(numpy.log2(options.scale))
    side = max(3, round(100 * options.scale ** (1 / 3)))
    return {"rmat": (2**scale, f"rmat:1:{scale}:{16 * 2**scale}"), "lap": (side**3, "stencil:27")}


def distal(bench, options, kernel, ranks, extent, source, x, expected):
    with tempfile.TemporaryDirectory(prefix="distal-bench-") as folder:
        numpy.save(f"{folder}/x.npy", x)
        with open(f"{folder}/program.distal", "w", encoding="utf-8") as file:
            lines = (HEAD + kernel.program).splitlines()
            order = ("param", "machine", "tensor", "place")
            first = [line for key in order for line in lines if line.startswith(key)]
            file.write("\n".join(first + [line for line in lines if not line.startswith(order)]) + "\n")
        # The environment without what MPI has added to it for this process.
        done = subprocess.run(
            [f"{bench.build}/distal", "run", f"{folder}/program.distal", "-q", "-p", f"n={extent}", "-p",
             f"r={kernel.columns}", "-p", f"g={ranks}", "--threads", "1", "--in", f"B={source}", "--in",
             f"x={folder}/x.npy", "--out", f"y={folder}/y.npy", "--warmup", "1", "--repeat", str(options.repeat),
             "--stats=json"], env=dict(os.environ), stdout=subprocess.PIPE, text=True, check=True)
        wrong = sparse.differs(numpy.load(f"{folder}/y.npy"), expected)
        if wrong:
            sys.exit(f"distal: {wrong}")
    statement = json.loads(done.stdout)["statements"][0]
    return statement["seconds"], statement["structure_seconds"]


def petsc(bench, options, kernel, ranks, b, x, expected):
    sparse.THREADS = str(ranks)
    peer = sparse.petsc(bench, kernel.petsc, kernel.columns, b=b, x=x)
    if not peer:
        return None
    peer.run()
    wrong = sparse.differs(peer.result(), expected)
    if wrong:
        sys.exit(f"PETSc: {wrong}")
    times = [peer.run() for _ in range(options.repeat)]
    peer.end()
    return {"min": min(times), "median": float(numpy.median(times))}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="the build folder (default: build)")
    parser.add_argument("--scale", type=float, default=1, help="by how much inputs are larger (default: 1)")
    parser.add_argument("--repeat", type=int, default=15, help="timed executions of each (default: 15)")
    parser.add_argument("--ranks", type=int, nargs="*", default=[2, 4], help="default: 2 and 4")
    parser.add_argument("--kernel", nargs="*", choices=KERNELS, default=list(KERNELS), help="default: all")
    parser.add_argument("--input", nargs="*", choices=("rmat", "lap"), default=["rmat", "lap"], help="default: all")
    options = parser.parse_args()
    options.seconds, options.compile = 0, False
    bench = sparse.Bench(options)
    print(f"  {'kernel':<8} {'input':<6} {'ranks':>5} {'distal ms':>10} {'least':>9} {'PETSc ms':>10} {'least':>9}"
          f" {'ratio':>6}  inspector, in executions")
    for name in options.kernel:
        kernel = KERNELS[name]
        for of in options.input:
            extent, source = sources(options)[of]
            b = sparse.generated(bench, (extent, extent), "csr", source)
            x = sparse.random_matrix(2, *((extent, kernel.columns) if kernel.columns > 1 else (extent,)))
            expected = b.csr() @ x
            for ranks in options.ranks:
                own, inspection = distal(bench, options, kernel, ranks, extent, source, x, expected)
                other = petsc(bench, options, kernel, ranks, b, x, expected)
                beside = f"{1e3 * other['median']:10.2f} {1e3 * other['min']:9.2f} {own['median'] / other['median']:6.2f}" \
                    if other else f"{'':>27}"
                print(f"  {name:<8} {of:<6} {ranks:>5} {1e3 * own['median']:10.2f} {1e3 * own['min']:9.2f} {beside}"
                      f"  {inspection / own['median']:6.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
