#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times kernels with sparse operands on several ranks of one thread each, with operands in blocks of their first mode.
Beside them are those of PETSc on as many ranks, on the same matrices, or two processes of distal that share nothing and
compute one half of the rows each, or the same kernel distributed otherwise. Results are compared with those of SciPy
and NumPy before they are timed, sparse ones by their product with a vector. Also printed is what the inspector takes,
which finds once for a structure what moves, in executions, and the imbalance: the most entries that a rank has, over
their mean."""
import argparse
import ctypes
import dataclasses
import json
import os
import subprocess
import sys
import tempfile

os.environ["OMP_NUM_THREADS"] = "1"

import numpy  # noqa: E402  (it reads OMP_NUM_THREADS)
import scipy.sparse  # noqa: E402

import report  # noqa: E402
import sparse  # noqa: E402

COLUMNS = 32


@dataclasses.dataclass
class Kernel:
    """Extents of tensors are named m, n, q as the modes of B, and r. The first tensor is the result."""
    statement: str
    tensors: dict  # by name: its extents, and the levels of a sparse one
    beside: str  # the kernel of PETSc, "halves" or the name of a kernel here
    reference: object  # a function of the operands by name
    places: dict = dataclasses.field(default_factory=dict)  # where not in blocks of the first mode; "": none
    assembles: bool = False  # what is timed is the structure of the result and its values

    def result(self):
        return next(iter(self.tensors))

    def declarations(self):
        return {name: f"{name}({', '.join(extents)}): f64{', ' + levels if levels else ''}"
                for name, (extents, levels) in self.tensors.items()}


def coordinates(b):
    """Of all entries, by mode."""
    (_, crd1), (pos2, crd2), (pos3, crd3) = b.levels
    fiber = numpy.repeat(numpy.arange(len(crd2)), numpy.diff(pos3))
    return numpy.repeat(crd1, numpy.diff(pos2))[fiber], crd2[fiber], crd3


def sddmm(operands):
    b = operands["B"]
    (pos, crd), c, d = b.levels[1], operands["C"], operands["D"]
    row = numpy.repeat(numpy.arange(b.extents[0]), numpy.diff(pos))
    values = b.values * sum(c[row, k] * d[crd, k] for k in range(COLUMNS))
    return scipy.sparse.csr_matrix((values, crd, pos), b.extents) @ operands["w"]


def ttv(operands):
    b = operands["B"]
    i, j, k = coordinates(b)
    return numpy.bincount(i, b.values * operands["c"][k] * operands["w"][j], minlength=b.extents[0])


def mttkrp(operands):
    b, c, d = (operands[name] for name in "BCD")
    i, j, k = coordinates(b)
    return numpy.stack([numpy.bincount(i, b.values * c[j, l] * d[k, l], minlength=b.extents[0])
                        for l in range(COLUMNS)], axis=1)


PRODUCT = {"y": ("m", ""), "B": ("mn", "csr"), "x": ("n", "")}
CSR = ("mn", "csr")
KERNELS = {
    "spmv": Kernel("y(i) = B(i, j) * x(j)", PRODUCT, "spmv", lambda of: of["B"].csr() @ of["x"]),
    "spmv-nz": Kernel("y(i) = B(i, j) * x(j)", PRODUCT, "spmv-rows", lambda of: of["B"].csr() @ of["x"],
                      {"B": "place B(i, j) -> M(~fuse(i, j))", "y": ""}),
    "spmm32": Kernel("y(i, k) = B(i, j) * x(j, k)", {"y": ("mr", ""), "B": CSR, "x": ("nr", "")}, "spmm",
                     lambda of: of["B"].csr() @ of["x"]),
    "add3": Kernel("A(i, j) = B(i, j) + C(i, j) + D(i, j)", {"A": CSR, "B": CSR, "C": CSR, "D": CSR}, "add3",
                   lambda of: sum(of[name].csr() for name in "BCD") @ of["w"], assembles=True),
    "sddmm": Kernel("A(i, j) = B(i, j) * C(i, k) * D(j, k)", {"A": CSR, "B": CSR, "C": ("mr", ""), "D": ("nr", "")},
                    "halves", sddmm),
    "ttv": Kernel("A(i, j) = B(i, j, k) * c(k)", {"A": ("mn", "dcsr"), "B": ("mnq", "csf"), "c": ("q", "")},
                  "halves", ttv),
    "mttkrp": Kernel("A(i, l) = B(i, j, k) * C(j, l) * D(k, l)",
                     {"A": ("mr", ""), "B": ("mnq", "csf"), "C": ("nr", ""), "D": ("qr", "")}, "halves", mttkrp),
}
OTHERS = {"spmv-rows": KERNELS["spmv"]}


def sources(options):
    """By name: the extents, and what distal generates operands by."""
    scale = 20 + round(numpy.log2(options.scale))
    side = max(3, round(100 * options.scale ** (1 / 3)))
    cube = tuple(max(1, int(extent * options.scale ** (1 / 3))) for extent in (20000, 20000, 2000))
    return {"rmat": ((2**scale, 2**scale), [f"rmat:{seed}:{scale}:{16 * 2**scale}" for seed in (1, 2, 3)]),
            "lap": ((side**3, side**3), 3 * ["stencil:27"]),
            "t3": (cube, [f"sparse:1:{int(1e7 * options.scale)}"])}


class Input:
    """The operands of a kernel."""

    def __init__(self, bench, kernel, extents, names):
        self.params = dict(zip("mnq", extents), r=COLUMNS)
        self.operands, self.sources = {}, {}
        for seed, (name, (of, levels)) in enumerate(kernel.tensors.items()):
            shape = tuple(self.params[extent] for extent in of)
            if name == kernel.result():
                continue
            if levels:
                self.sources[name] = names[len(self.sources)]
                self.operands[name] = sparse.generated(bench, shape, levels, self.sources[name])
            else:
                self.operands[name] = sparse.random_matrix(seed, *shape)
        self.is_sparse = bool(kernel.tensors[kernel.result()][1])
        if self.is_sparse:
            self.operands["w"] = sparse.random_matrix(9, self.params["n"])
        self.expected = kernel.reference(self.operands)


def program(kernel, given, executions):
    """Where a result is assembled, that takes place in each of as many statements."""
    tensors = dict(kernel.declarations(), **({"z": "z(m): f64", "w": "w(n): f64"} if given.is_sparse else {}))
    lines = [f"param {', '.join(f'{name} = 1' for name in given.params)}, g = 1", "machine M = grid(g)"]
    lines += [f"tensor {tensor}" for tensor in tensors.values()]
    for name in tensors:
        order = len(kernel.tensors[name][0]) if name in kernel.tensors else 1
        lines.append(kernel.places.get(name, f"place {name}({', '.join('abc'[:order])}) -> M(a)"))
    lines += [kernel.statement] * executions
    if given.is_sparse:
        lines.append(f"z(i) = {kernel.result()}(i, j) * w(j)")
    return "\n".join(lines) + "\n"


def run_distal(bench, options, kernel, given, ranks):
    """The JSON objects of the kernel's statements in a run whose result is right."""
    executions = 1 + max(3, options.repeat // 3) if kernel.assembles else 1
    with tempfile.TemporaryDirectory(prefix="distal-bench-") as folder:
        with open(f"{folder}/program.distal", "w", encoding="utf-8") as file:
            file.write(program(kernel, given, executions))
        command = [f"{bench.build}/distal", "run", f"{folder}/program.distal", "-q", "--threads", "1", "-p", f"g={ranks}"]
        for name, value in given.params.items():
            command += ["-p", f"{name}={value}"]
        for name, operand in given.operands.items():
            if name not in given.sources:
                numpy.save(f"{folder}/{name}.npy", operand)
            command += ["--in", f"{name}={given.sources.get(name, f'{folder}/{name}.npy')}"]
        times = ["--warmup", "0", "--repeat", "1"] if kernel.assembles else \
            ["--warmup", "1", "--repeat", str(options.repeat)]
        out = "z" if given.is_sparse else kernel.result()
        # The environment without what MPI has added to it for this process.
        done = subprocess.run([*command, *times, "--out", f"{out}={folder}/out.npy", "--stats=json"],
                              env=dict(os.environ), stdout=subprocess.PIPE, text=True, check=True)
        wrong = sparse.differs(numpy.load(f"{folder}/out.npy"), given.expected)
        if wrong:
            sys.exit(f"distal: {wrong}")
    return json.loads(done.stdout)["statements"][:executions]


@dataclasses.dataclass
class Times:
    median: float
    least: float
    inspection: float = None
    imbalance: float = None


def distal(bench, options, kernel, given, ranks):
    first, *others = run_distal(bench, options, kernel, given, ranks)
    stored = first["tensors"]["B"]["stored"]
    imbalance = max(stored) * len(stored) / sum(stored)
    if kernel.assembles:  # the first one, whose memory is new, is not counted, nor is that of PETSc
        seconds = [run["seconds"]["median"] + run["structure_seconds"] for run in others]
        return Times(numpy.median(seconds), min(seconds), imbalance=imbalance)
    seconds = first["seconds"]
    return Times(seconds["median"], seconds["min"], first.get("structure_seconds", 0), imbalance)


def petsc(bench, options, kernel, given, ranks):
    sparse.THREADS = str(ranks)
    columns = COLUMNS if kernel.beside == "spmm" else 1
    operands = {name.lower(): operand for name, operand in given.operands.items() if name != "w"}
    peer = sparse.petsc(bench, kernel.beside, columns, **operands)
    if not peer:
        return None
    peer.run()
    result = peer.result()
    if given.is_sparse:
        pos, crd, values = result
        shape = given.params["m"], given.params["n"]
        result = scipy.sparse.csr_matrix((values, crd, pos), shape) @ given.operands["w"]
    wrong = sparse.differs(result, given.expected)
    if wrong:
        sys.exit(f"PETSc: {wrong}")
    times = [peer.run() for _ in range(options.repeat)]
    peer.end()
    return Times(numpy.median(times), min(times))


# --- One half of the rows in a process of its own


def half_of(stored, which):
    """A half of the coordinates of the first mode, numbered from 0."""
    rows = stored.extents[0]
    begin, end = rows * which // 2, rows * (which + 1) // 2
    first, last, levels = begin, end, [(None, None)]
    if stored.levels[0][1] is not None:
        crd = stored.levels[0][1]
        first, last = numpy.searchsorted(crd, (begin, end))
        levels = [(numpy.array([0, last - first], numpy.int64), crd[first:last] - begin)]
    for pos, crd in stored.levels[1:]:
        below = pos[first:last + 1]
        first, last = below[0], below[-1]
        levels.append((below - first, crd[first:last].copy()))
    return sparse.Stored((end - begin, *stored.extents[1:]), levels, stored.values[first:last].copy())


class Compiled(sparse.Bench):
    """With what the process that has started this one has compiled."""

    def __init__(self, options):
        self.build = os.path.join(report.ROOT, options.build)
        self.plain = ctypes.CDLL(os.path.join(self.build, "bench", "sparse_plain"))
        self.plain.plain_comm_self.restype = ctypes.c_void_p


def serve_half(options, name, folder):
    """Executes a kernel on operands of a folder for each line of the standard input, and prints its seconds."""
    kernel, bench = KERNELS[name], Compiled(options)
    with open(f"{folder}/operands.json", encoding="utf-8") as file:
        described = json.load(file)
    tensors = []
    for tensor, declaration in kernel.declarations().items():
        operand = None
        if tensor == kernel.result():
            extents, levels = kernel.tensors[tensor]
            operand = None if levels else numpy.empty([described["params"][extent] for extent in extents])
        elif tensor in described["stored"]:
            extents, parts = described["stored"][tensor]
            levels = [tuple(numpy.load(f"{folder}/{part}") if part else None for part in level) for level in parts]
            operand = sparse.Stored(tuple(extents), levels, numpy.load(f"{folder}/{tensor}.npy"))
        else:
            operand = numpy.load(f"{folder}/{tensor}.npy")
        tensors.append((declaration, operand))
    peer = sparse.Distal(bench, kernel.statement, tensors, **described["params"]).peer
    peer.run()
    print("ready", flush=True)
    for _ in sys.stdin:
        print(sparse.execute(peer), flush=True)


def write_half(given, kernel, which, folder):
    params, stored = dict(given.params), {}
    for name, operand in given.operands.items():
        if isinstance(operand, sparse.Stored):
            half = half_of(operand, which)
            params["m"], parts = half.extents[0], []
            for number, level in enumerate(half.levels):
                files = [None if array is None else f"{name}.{number}.{kind}.npy"
                         for kind, array in zip(("pos", "crd"), level)]
                for file, array in zip(files, level):
                    if file:
                        numpy.save(f"{folder}/{file}", array)
                parts.append(files)
            stored[name] = half.extents, parts
            operand = half.values
        elif name in kernel.tensors and kernel.tensors[name][0][0] == "m":
            rows = len(operand)
            operand = operand[rows * which // 2:rows * (which + 1) // 2]
        numpy.save(f"{folder}/{name}.npy", operand)
    with open(f"{folder}/operands.json", "w", encoding="utf-8") as file:
        json.dump({"params": params, "stored": stored}, file)


def halves(options, name, kernel, given):
    """Both at the same time, as long as the longer one takes."""
    with tempfile.TemporaryDirectory(prefix="distal-bench-") as folder:
        processes = []
        for which in (0, 1):
            os.mkdir(f"{folder}/{which}")
            write_half(given, kernel, which, f"{folder}/{which}")
            processes.append(subprocess.Popen(
                [sys.executable, os.path.abspath(__file__), "--build", options.build, "--half", name, f"{folder}/{which}"],
                env=dict(os.environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        for process in processes:
            process.stdout.readline()
        times = []
        for _ in range(options.repeat):
            for process in processes:
                process.stdin.write("\n")
                process.stdin.flush()
            times.append(max(float(process.stdout.readline()) for process in processes))
        for process in processes:
            process.stdin.close()
            process.wait()
    return Times(numpy.median(times), min(times))


def measure(bench, table, options, name, of):
    kernel, both = KERNELS[name], None
    extents, generators = sources(options)[of]
    given = Input(bench, kernel, extents, generators)
    for ranks in options.ranks:
        own = distal(bench, options, kernel, given, ranks)
        if kernel.beside == "halves":
            other = both = both or halves(options, name, kernel, given)
        elif kernel.beside in OTHERS:
            other = distal(bench, options, OTHERS[kernel.beside], given, ranks)
        else:
            other = petsc(bench, options, kernel, given, ranks)
        table.row(kernel=name, input=of, ranks=str(ranks), milliseconds=1e3 * own.median, least=1e3 * own.least,
                  beside=kernel.beside if kernel.beside in ("halves", *OTHERS) else "PETSc",
                  theirs=other and 1e3 * other.median, ratio=other and own.median / other.median,
                  inspector=own.inspection and own.inspection / own.median, imbalance=own.imbalance)


def main():
    parser = report.parser(__doc__, 15)
    parser.add_argument("--scale", type=float, default=1, help="by how much inputs are larger (default: 1)")
    parser.add_argument("--ranks", type=int, nargs="*", help="default: 2 and 4, quick: 2")
    parser.add_argument("--kernel", nargs="*", choices=KERNELS, default=list(KERNELS), help="default: all")
    parser.add_argument("--input", nargs="*", choices=("rmat", "lap", "t3"), help="default: all, quick: rmat and t3")
    parser.add_argument("--half", nargs=2, metavar=("KERNEL", "FOLDER"), help=argparse.SUPPRESS)
    options = report.parse(parser)
    options.seconds, options.compile = 0, False
    if options.half:
        serve_half(options, *options.half)
        return 0
    options.ranks = options.ranks or ([2] if options.quick else [2, 4])
    options.input = options.input or (["rmat", "t3"] if options.quick else ["rmat", "lap", "t3"])
    if options.quick:
        options.repeat = min(options.repeat, 7)
    bench = sparse.Bench(options)
    table = report.Report("distributed", options, {"kernel": 8, "input": 6, "ranks": 5, "beside": 9},
                          {"milliseconds": ".2f", "least": ".2f", "theirs": ".2f", "ratio": ".2f", "inspector": ".1f", "imbalance": ".3f"},
                          ["ratio"], mark=1)
    table.note("inspector", "executions", "theirs: milliseconds of what is beside it; inspector: what it takes, in executions")
    for name in options.kernel:
        of_tensors = KERNELS[name].tensors["B"][1] == "csf"
        for of in ["t3"] if of_tensors else ["rmat"] if name == "spmv-nz" else ["rmat", "lap"]:
            if of in options.input:
                measure(bench, table, options, name, of)
    table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
