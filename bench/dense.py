#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times dense kernels of distal, on one rank with all threads and on as many ranks of one thread, beside what the
machine can do: a product of matrices by the BLAS (cblas_dgemm with all threads) of as many operations, square or of
the same extents, or reading or writing as many bytes. They are executed in turn, and the figures are ratios of the two: 1 is the speed of the machine.
Shown are their median and quartiles. Results of one rank are compared with those of NumPy's einsum before they are
timed, those of several ranks with the reference evaluator, on small extents."""
import ctypes
import dataclasses
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import report

ENVIRONMENT = dict(os.environ)  # without what MPI adds
THREADS = int(os.environ.setdefault("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0)))))


@dataclasses.dataclass
class Kernel:
    statement: str
    extents: dict  # by index variable
    limit: str  # gemm, memory (bytes of operands and result at the rate of reading), write (of the result), or
    # shape: a product of matrices of the same extents, or memory where that takes longer
    distribute: str  # the variable whose blocks several ranks have

    def accesses(self):
        """(name, index variables), the result first."""
        return [(name, re.findall(r"\w+", variables)) for name, variables in re.findall(r"(\w)(?:\(([\w, ]*)\))?", self.statement)]

    def declarations(self, extents):
        return [f"{name}({', '.join(str(extents[v]) for v in variables)}): f64" if variables else f"{name}: f64"
                for name, variables in self.accesses()]

    def einsum(self):
        result, *operands = ("".join(variables) for _, variables in self.accesses())
        return f"{','.join(operands)}->{result}"

    def count(self, variables):
        return math.prod(self.extents[v] for v in variables)

    def flop(self):
        """Of the product of all factors in the order of the loops, as two operands at a time would have it."""
        return 2 * math.prod(self.extents.values())

    def shape(self):
        """Of the product that a contraction of two operands is: the extents of the result, and that of the sum."""
        result, left, right = (set(variables) for _, variables in self.accesses())
        return [self.count(variables) for variables in (result & left, result & right, left - result)]

    def bytes(self):
        return 8 * sum(self.count(variables) for _, variables in self.accesses())


def cube(variables, extent):
    return dict.fromkeys(variables, extent)


KERNELS = {
    "gemm4096": Kernel("A(i, j) = B(i, k) * C(k, j)", cube("ijk", 4096), "gemm", "i"),
    "gemm2048": Kernel("A(i, j) = B(i, k) * C(k, j)", cube("ijk", 2048), "gemm", "i"),
    "ttv": Kernel("A(i, j) = B(i, j, k) * c(k)", cube("ijk", 512), "memory", "i"),
    "innerprod": Kernel("a = B(i, j, k) * C(i, j, k)", cube("ijk", 512), "memory", "i"),
    "ttm": Kernel("A(i, j, l) = B(i, j, k) * C(k, l)", cube("ijk", 384) | {"l": 64}, "gemm", "i"),
    "mttkrp": Kernel("A(i, l) = B(i, j, k) * C(j, l) * D(k, l)", cube("ijk", 384) | {"l": 32}, "gemm", "i"),
    "four": Kernel("A(a, b, c, d) = B(a, e, b, f) * C(d, f, c, e)", cube("abcdef", 48), "gemm", "a"),
    "three": Kernel("A(a, b, c) = B(b, d, a) * C(d, c)", cube("abcd", 312), "gemm", "a"),
    "one": Kernel("A(a, b, c, d) = B(e, b, a, d) * C(c, e)", cube("abcde", 72), "gemm", "a"),
    "six": Kernel("A(a, b, c, d, e, f) = B(a, b, g, c) * C(g, d, e, f)", cube("abcdefg", 20), "write", "a"),
    "permuted": Kernel("A(d, a, e, b, f, c) = B(a, b, g, c) * C(g, d, e, f)", cube("abcdefg", 20), "write", "d"),
    "batched": Kernel("A(b, i, j) = B(b, i, k) * C(b, k, j)", cube("ijk", 256) | {"b": 64}, "gemm", "b"),
    "add": Kernel("A(i, j) = B(i, j) + C(i, j) + D(i, j)", cube("ij", 4096), "memory", "i"),
    "transpose": Kernel("A(i, j) = B(j, i)", cube("ij", 4096), "memory", "i"),
    "permute": Kernel("A(c, a, b) = B(a, b, c)", cube("abc", 256), "memory", "c"),
}
QUICK = ["gemm2048", "ttv", "four", "six", "batched", "add", "transpose"]


# The contractions of TCCG (Springer and Bientinesi, "Design of a high-performance GEMM-like tensor-tensor multiplication"):
# index variables of the result and the operands, the one with unit stride first, and their extents.
TCCG = """
abcde-efbad-cf a48 b32 c24 d32 e48 f32
abcde-efcad-bf a48 b24 c32 d32 e48 f32
abcd-dbea-ec a72 b72 c24 d72 e72
abcde-ecbfa-fd a48 b32 c32 d24 e48 f48
abcd-deca-be a72 b24 c72 d72 e72
abc-bda-dc a312 b312 c24 d312
abcd-ebad-ce a72 b72 c24 d72 e72
abcdef-dega-gfbc a24 b16 c16 d24 e16 f16 g24
abcdef-dfgb-geac a24 b16 c16 d24 e16 f16 g24
abcdef-degb-gfac a24 b16 c16 d24 e16 f16 g24
abcdef-degc-gfab a24 b16 c16 d24 e16 f16 g24
abc-dca-bd a312 b24 c296 d312
abcd-ea-ebcd a72 b72 c72 d72 e72
abcd-eb-aecd a72 b72 c72 d72 e72
abcd-ec-abed a72 b72 c72 d72 e72
abc-adec-ebd a72 b72 c72 d72 e72
ab-cad-dcb a312 b296 c312 d312
ab-acd-dbc a312 b296 c296 d312
abc-acd-db a312 b296 c296 d312
abc-adc-bd a312 b312 c296 d296
ab-ac-cb a5136 b5120 c5136
abcd-aebf-fdec a72 b72 c72 d72 e72 f72
abcd-eafd-fbec a72 b72 c72 d72 e72 f72
abcd-aebf-dfce a72 b72 c72 d72 e72 f72
"""


def tccg_kernel(name, extents):
    accesses = (f"{tensor}({', '.join(reversed(variables))})" for tensor, variables in zip("ABC", name.split("-")))
    return Kernel("{} = {} * {}".format(*accesses), {word[0]: int(word[1:]) for word in extents}, "shape",
                  name.split("-")[0][-1])


TCCG_KERNELS = {name: tccg_kernel(name, extents) for name, *extents in map(str.split, TCCG.split("\n")[1:-1])}


class Limits:
    """Seconds of what the machine can do."""

    def __init__(self, bench):
        self.plain = bench.plain
        self.matrices = {}
        self.memory = numpy.ones(2**26)
        self.plain.plain_sum.restype = ctypes.c_double

    def timed(self, function, *arguments):
        start = time.perf_counter()
        function(*arguments)
        return time.perf_counter() - start

    def gemm(self, m, n, k):
        if (m, n, k) not in self.matrices:
            random = numpy.random.default_rng(1)
            self.matrices = {(m, n, k): [random.random(extents) for extents in ((m, k), (k, n), (m, n))]}
            self.gemm(m, n, k)
        return self.timed(self.plain.plain_gemm, *map(ctypes.c_int, (m, n, k)), *map(pointer, self.matrices[m, n, k]))

    def rate(self, function):
        return self.memory.nbytes / self.timed(function, ctypes.c_int64(len(self.memory)), pointer(self.memory))

    def seconds(self, kernel):
        if kernel.limit == "gemm":
            n = max(1, round((kernel.flop() / 2) ** (1 / 3)))
            return self.gemm(n, n, n) * kernel.flop() / (2 * n**3)
        if kernel.limit == "shape":
            return max(self.gemm(*kernel.shape()), kernel.bytes() / self.rate(self.plain.plain_sum))
        if kernel.limit == "write":
            return 8 * kernel.count(kernel.accesses()[0][1]) / self.rate(self.plain.plain_write)
        return kernel.bytes() / self.rate(self.plain.plain_sum)


class OneRank:
    """In this process, on arrays of NumPy."""

    def __init__(self, bench, kernel):
        self.context = Context(bench.build, ctypes.c_void_p(bench.plain.plain_comm_self()))
        random = numpy.random.default_rng(2)
        self.arrays = [random.random([kernel.extents[v] for v in variables]) for _, variables in kernel.accesses()]
        tensors = [self.context.tensor(declaration) for declaration in kernel.declarations(kernel.extents)]
        statement = self.context.compile(kernel.statement)
        # Tensors without a placement are where the first plan needs them, and can then be attached.
        self.context.plan(statement)
        for tensor, array in zip(tensors, self.arrays):
            self.context.attach(tensor, array)
        self.plan = self.context.plan(statement)
        self.seconds()
        result, *operands = self.arrays
        expected = sum(operands) if "+" in kernel.statement else numpy.einsum(kernel.einsum(), *operands, optimize=True)
        if numpy.max(numpy.abs(result - expected)) > 1e-12 * numpy.max(numpy.abs(expected)):
            sys.exit(f"{kernel.statement} is wrong")

    def seconds(self):
        start = time.perf_counter()
        self.context.execute(self.plan)
        return time.perf_counter() - start

    def end(self):
        self.context.free()


class SeveralRanks:
    """Through `distal run`, each rank with blocks of one variable of all tensors that have it; without a schedule."""

    def __init__(self, bench, kernel):
        self.command = [os.path.join(bench.build, "distal"), "run", "-", "-q", "-n", str(THREADS), "--threads", "1"]
        self.text = self.program(kernel, kernel.extents)
        small = {v: min(extent, 9) for v, extent in kernel.extents.items()}
        subprocess.run([*self.command, "--check"], input=self.program(kernel, small), text=True, check=True,
                       stdout=subprocess.DEVNULL, env=ENVIRONMENT)

    @staticmethod
    def program(kernel, extents):
        lines, d = [f"machine M = grid({THREADS})"], kernel.distribute
        for (name, variables), declaration in zip(kernel.accesses(), kernel.declarations(extents)):
            lines.append(f"tensor {declaration}")
            if d in variables:
                lines.append(f"place {name}({', '.join(variables)}) -> M({d})")
        return "\n".join([*lines, kernel.statement])

    def seconds(self):
        done = subprocess.run([*self.command, "--warmup", "1", "--repeat", "3", "--stats=json"], input=self.text, text=True,
                              stdout=subprocess.PIPE, check=True, env=ENVIRONMENT)
        return json.loads(done.stdout)["statements"][0]["seconds"]["median"]

    def end(self):
        pass


def measure(bench, name, kernel, how, what):
    runs = what(bench, kernel)
    ratios, times = [], []
    for _ in range(bench.repeat):
        before = bench.limits.seconds(kernel)
        times.append(runs.seconds())
        ratios.append((before + bench.limits.seconds(kernel)) / 2 / times[-1])
    runs.end()
    low, median, high = numpy.percentile(ratios, [25, 50, 75])
    bench.table.row(kernel=name, limit=kernel.limit, how=how, milliseconds=1e3 * float(numpy.median(times)), ratio=float(median),
                    **{"25 %": float(low), "75 %": float(high)})
    return median


class Bench:
    def __init__(self, options, folder):
        self.build, self.repeat = report.build_folder(options), options.repeat
        self.table = report.Report("tccg" if options.tccg is not None else "dense", options, {"kernel": 16, "limit": 7, "how": 20},
                                   {"milliseconds": ".2f", "ratio": ".2f", "25 %": ".2f", "75 %": ".2f"}, ["ratio"], mark=1)
        path = os.path.join(folder, "plain.so")
        blas = subprocess.run(["pkg-config", "--cflags", "openblas"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        subprocess.run(["mpicc", "-O3", "-march=native", "-fopenmp", "-fPIC", "-shared", *blas,
                        os.path.join(report.HERE, "dense_plain.c"), "-o", path], check=True)
        self.plain = ctypes.CDLL(path)
        self.plain.plain_comm_self.restype = ctypes.c_void_p
        self.limits = Limits(self)
        self.first = Context(self.build, ctypes.c_void_p(self.plain.plain_comm_self()))  # as the last one finalizes MPI


def main():
    global numpy, Context, pointer
    parser = report.parser(__doc__, 9)
    parser.add_argument("--kernel", nargs="*", choices=KERNELS, help=f"default: all, quick: {' '.join(QUICK)}")
    parser.add_argument("--tccg", nargs="*", choices=TCCG_KERNELS, metavar="NAME",
                        help="the contractions of TCCG instead, all or these, on one rank")
    parser.add_argument("--one-rank", action="store_true", help="not on several ranks")
    options = report.parse(parser)
    options.kernel = options.kernel or (QUICK if options.quick else list(KERNELS))
    if options.quick:
        options.repeat = min(options.repeat, 5)
    # First of all, so that NumPy gets the BLAS of distal, which is also that of the limit.
    ctypes.CDLL(os.path.join(report.build_folder(options), "libdistal.so"), mode=ctypes.RTLD_GLOBAL)
    import numpy
    from library import Context, pointer

    with tempfile.TemporaryDirectory(prefix="distal-bench-") as folder:
        bench = Bench(options, folder)
        if options.tccg is not None:
            names = options.tccg or TCCG_KERNELS
            ratios = [measure(bench, name, TCCG_KERNELS[name], f"1 rank, {THREADS} threads", OneRank) for name in names]
            bench.table.note("mean", statistics.geometric_mean(ratios),
                             f"geometric mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}")
        for name in options.kernel if options.tccg is None else []:
            measure(bench, name, KERNELS[name], f"1 rank, {THREADS} threads", OneRank)
            if not options.one_rank:
                measure(bench, name, KERNELS[name], f"{THREADS} ranks, 1 thread", SeveralRanks)
        bench.table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
