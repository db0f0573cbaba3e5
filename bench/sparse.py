#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times sparse kernels of distal beside those of Eigen, PETSc and SciPy and beside loops written by hand in C, on
the same arrays. All use the same number of threads (PETSc as many ranks; SciPy has one thread, Eigen threads for some
products only) and are executed in turn, and each result is compared with one of SciPy or NumPy before it is timed."""
import ctypes
import dataclasses
import os
import shutil
import subprocess
import sys
import tempfile
import time

THREADS = os.environ.setdefault("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))

import numpy  # noqa: E402  (it reads OMP_NUM_THREADS)
import scipy.sparse  # noqa: E402

import report  # noqa: E402
from library import Context, array_at, pointer  # noqa: E402


# --- Inputs


@dataclasses.dataclass
class Stored:
    """A tensor of `extents` as its levels, a pair (pos, crd) for each, and its values."""
    extents: tuple
    levels: list
    values: numpy.ndarray

    def csr(self):
        (pos, crd) = self.levels[1]
        narrow = pos.astype(numpy.int32) if pos[-1] < 2**31 else pos
        return scipy.sparse.csr_matrix((self.values, crd, narrow), self.extents)

    def bytes(self):
        arrays = [array for level in self.levels for array in level if array is not None] + [self.values]
        return sum(array.nbytes for array in arrays)


def generated(bench, extents, levels, source):
    """What a generator of distal makes, or entries: (coordinates, values)."""
    context = bench.context()
    shape = ", ".join(map(str, extents))
    tensor = context.tensor(f"T({shape}): f64, {levels}")
    if isinstance(source, str):
        context.fill(tensor, source)
    else:
        context.entries(tensor, *source)
    arrays, values = context.levels(tensor, extents)
    copies = [tuple(array if array is None else array.copy() for array in level) for level in arrays]
    result = Stored(extents, copies, values.copy())
    context.free()
    return result


def band(bench):
    rows, half = int(2e6 * bench.scale), 5
    column = numpy.arange(rows, dtype=numpy.int32)[:, None] + numpy.arange(-half, half + 1, dtype=numpy.int32)
    inside = (column >= 0) & (column < rows)
    pos = numpy.concatenate(([0], numpy.cumsum(inside.sum(1)))).astype(numpy.int64)
    values = numpy.random.default_rng(1).random(pos[-1])
    return Stored((rows, rows), [(None, None), (pos, column[inside])], values)


def rmat(bench, scale=20):
    scale += round(numpy.log2(bench.scale))
    return generated(bench, (2**scale, 2**scale), "csr", f"rmat:1:{scale}:{16 * 2**scale}")


def lap(bench):
    rows = max(3, round(100 * bench.scale ** (1 / 3))) ** 3
    result = generated(bench, (rows, rows), "csr", "stencil:27")
    # Values that do not cancel out: SciPy drops sums that are zero from products.
    result.values[:] = numpy.random.default_rng(1).random(len(result.values))
    return result


def rows_of(bench, lengths):
    """A matrix with rows of these lengths at random columns, of which those of a full row are in order."""
    random, n = numpy.random.default_rng(1), len(lengths)
    row = numpy.repeat(numpy.arange(n), lengths)
    column = random.integers(n, size=len(row))
    for full in numpy.flatnonzero(lengths == n):
        column[row == full] = numpy.arange(n)
    return generated(bench, (n, n), "csr", ([row, column], random.random(len(row))))


def power(bench):
    """Rows sorted by length, the lengths being proportional to (row + 1)^-0.5."""
    n = int(2**19 * bench.scale)
    return rows_of(bench, numpy.maximum(1, 5500 * (numpy.arange(n) + 1.0) ** -0.5).astype(numpy.int64))


def full_row(bench):
    """One row with an entry in each column, and one entry in each of the others."""
    lengths = numpy.ones(int(2**20 * bench.scale), numpy.int64)
    lengths[len(lengths) // 3] = len(lengths)
    return rows_of(bench, lengths)


def t3(bench):
    side = bench.scale ** (1 / 3)
    extents = tuple(max(1, int(extent * side)) for extent in (20000, 20000, 2000))
    return generated(bench, extents, "csf", f"sparse:1:{int(1e7 * bench.scale)}")


def nell2(bench):
    """Coordinates as frequent as those of NELL-2: the probability of x is proportional to (x + 1)^-0.6."""
    side = bench.scale ** (1 / 3)
    extents = tuple(max(1, int(extent * side)) for extent in (12092, 9184, 28818))
    random = numpy.random.default_rng(1)
    count = int(6e6 * bench.scale)
    coordinates = [numpy.floor(n * random.random(count) ** 2.5).astype(numpy.int64) for n in extents]
    return generated(bench, extents, "csf", (coordinates, random.random(count)))


# --- Peers. One has run(), which may return the seconds that it took, before(), which is not timed, and result().


class Peer:
    def __init__(self, name, run, result, before=lambda: None, end=lambda: None):
        self.name, self.run, self.result, self.before, self.end = name, run, result, before, end


class Matrix(ctypes.Structure):
    """`matrix` of sparse_plain.c and sparse_eigen.cc, and `result` of the latter."""
    _fields_ = [("rows", ctypes.c_int64), ("pos", ctypes.c_void_p), ("crd", ctypes.c_void_p),
                ("values", ctypes.c_void_p), ("owners", ctypes.c_void_p * 2)]

    @classmethod
    def of(cls, stored, pos_type):
        pos, crd = stored.levels[1]
        pos = pos.astype(pos_type)
        matrix = cls(stored.extents[0], pos.ctypes.data, crd.ctypes.data, stored.values.ctypes.data)
        matrix.kept = pos, crd, stored.values
        return matrix

    def arrays(self, pos_type):
        pos = array_at(self.pos, self.rows + 1, pos_type)
        return (pos, array_at(self.crd, pos[-1], numpy.int32), array_at(self.values, pos[-1], numpy.float64))


def procedure(library, name):
    function = getattr(library, name)
    function.restype = None
    return function


def plain(bench, name, *arguments, result):
    function = procedure(bench.plain, f"plain_{name}")
    return Peer("plain C", lambda: function(*arguments), result)


def assembling(library, name, kind, operands, pos_type, *arguments):
    """A function of sparse_plain.c or sparse_eigen.cc that makes a matrix."""
    if not library:
        return None
    matrices = [Matrix.of(operand, pos_type) for operand in operands]
    made = Matrix()
    function, release = procedure(library, f"{kind}_{name}"), procedure(library, f"{kind}_release")

    def before():
        release(ctypes.byref(made))
        ctypes.memset(ctypes.byref(made), 0, ctypes.sizeof(made))

    return Peer({"plain": "plain C", "eigen": "Eigen"}[kind],
                lambda: function(*map(ctypes.byref, matrices), *arguments, ctypes.byref(made)),
                lambda: made.arrays(pos_type), before, before)


def eigen(bench, name, operand, *arguments, result):
    if not bench.eigen:
        return None
    matrix = Matrix.of(operand, numpy.int32)
    function = procedure(bench.eigen, f"eigen_{name}")
    return Peer("Eigen", lambda: function(ctypes.byref(matrix), *arguments), result)


def scipy_peer(function, arrays=lambda made: (made.indptr, made.indices, made.data)):
    kept = []

    def run():
        kept.append(function())

    def result():
        if hasattr(kept[-1], "sort_indices"):
            kept[-1].sort_indices()
            return arrays(kept[-1])
        return kept[-1]

    return Peer("SciPy", run, result, kept.clear, kept.clear)


def petsc(bench, kernel, columns=1, **operands):
    """A process of PETSc for each thread, with operands from files."""
    if not bench.petsc:
        return None
    folder = tempfile.mkdtemp(prefix="distal-bench-")
    for name, operand in operands.items():
        arrays = {"values": operand}
        if isinstance(operand, Stored):
            arrays = {"pos": operand.levels[1][0], "crd": operand.levels[1][1], "values": operand.values}
        for kind, array in arrays.items():
            array.tofile(os.path.join(folder, f"{name}.{kind}"))
    # The environment without what MPI has added to it for this process.
    process = subprocess.Popen(["mpirun", "-n", THREADS, bench.petsc, folder, kernel, str(columns)],
                               env=dict(os.environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def command(line):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    def read(kind, dtype):
        return [numpy.fromfile(os.path.join(folder, f"r.{rank}.{kind}"), dtype) for rank in range(int(THREADS))]

    def result():
        command("write")
        values = numpy.concatenate(read("values", numpy.float64))
        if kernel == "spmv":
            return values
        if kernel == "spmm":
            blocks = read("values", numpy.float64)
            return numpy.concatenate([block.reshape(columns, -1).T for block in blocks])
        pos = read("pos", numpy.int32)
        starts = numpy.cumsum([0] + [part[-1] for part in pos])
        return (numpy.concatenate([[0]] + [part[1:] + start for part, start in zip(pos, starts)]),
                numpy.concatenate(read("crd", numpy.int32)), values)

    def end():
        process.stdin.close()
        process.wait()
        shutil.rmtree(folder)

    return Peer("PETSc", lambda: command("run"), result, end=end)


class Distal:
    """A statement of distal. Sparse operands are attached again before an execution where `assemble` is set, so
    that the structure of the result is made again."""

    def __init__(self, bench, text, tensors, assemble=False, **params):
        self.context = bench.context(**params)
        self.tensors = {}
        for declaration, operand in tensors:
            name = declaration.split("(")[0]
            self.tensors[name] = self.context.tensor(declaration), operand
        start = time.perf_counter()
        statement = self.context.compile(text)
        self.compile_seconds = time.perf_counter() - start
        # Tensors without a placement are where the first plan needs them, and can then be attached.
        self.context.plan(statement)
        for name in self.tensors:
            self.attach(name)
        plan = self.context.plan(statement)
        sparse = [name for name, (_, operand) in self.tensors.items() if isinstance(operand, Stored)]
        self.peer = Peer("distal", lambda: self.context.execute(plan), None,
                         (lambda: [self.attach(name) for name in sparse]) if assemble else (lambda: None),
                         self.context.free)
        self.peer.compile_seconds = self.compile_seconds

    def attach(self, name):
        tensor, operand = self.tensors[name]
        if isinstance(operand, Stored):
            self.context.attach_levels(tensor, operand.levels, operand.values)
        elif operand is not None:
            self.context.attach(tensor, operand)

    def dense(self, result):
        self.peer.result = lambda: result
        return self.peer

    def sparse(self, name, extents, flat=False):
        def result():
            levels, values = self.context.levels(self.tensors[name][0], extents)
            return values if flat else (*levels[-1], values)

        self.peer.result = result
        return self.peer


# --- Kernels. Each returns (reference, peers), where the reference is what results are compared with.

CSR = "(n, n): f64, csr"


def random_matrix(seed, *shape):
    return numpy.random.default_rng(seed).random(shape)


def spmv(bench, b):
    n, (pos, crd) = b.extents[0], b.levels[1]
    x, y, m = random_matrix(2, n), numpy.empty(n), b.csr()
    return m @ x, [
        Distal(bench, "y(i) = B(i, j) * x(j)", [("y(n): f64", y), ("B" + CSR, b), ("x(n): f64", x)], n=n).dense(y),
        plain(bench, "spmv", ctypes.c_int64(n), *map(pointer, (pos, crd, b.values, x, y)), result=lambda: y),
        eigen(bench, "spmv", b, pointer(x), pointer(y), result=lambda: y),
        petsc(bench, "spmv", b=b, x=x),
        scipy_peer(lambda: m @ x)]


def spmm(columns):
    def kernel(bench, b):
        n, (pos, crd), k = b.extents[0], b.levels[1], ctypes.c_int64(columns)
        c, a, m = random_matrix(2, n, columns), numpy.empty((n, columns)), b.csr()
        return m @ c, [
            Distal(bench, "A(i, k) = B(i, j) * C(j, k)",
                   [("A(n, r): f64", a), ("B" + CSR, b), ("C(n, r): f64", c)], n=n, r=columns).dense(a),
            plain(bench, "spmm", ctypes.c_int64(n), k, *map(pointer, (pos, crd, b.values, c, a)), result=lambda: a),
            eigen(bench, "spmm", b, k, pointer(c), pointer(a), result=lambda: a),
            petsc(bench, "spmm", columns, b=b, x=c),
            scipy_peer(lambda: m @ c)]

    return kernel


def sddmm(bench, b, columns=32):
    n, (pos, crd) = b.extents[0], b.levels[1]
    c, d, a = random_matrix(2, n, columns), random_matrix(3, n, columns), numpy.empty_like(b.values)
    row = numpy.repeat(numpy.arange(n, dtype=numpy.int32), numpy.diff(pos))
    reference = b.values * sum(c[row, k] * d[crd, k] for k in range(columns))
    return reference, [
        Distal(bench, "A(i, j) = B(i, j) * C(i, k) * D(j, k)",
               [("A" + CSR, None), ("B" + CSR, b), ("C(n, r): f64", c), ("D(n, r): f64", d)],
               n=n, r=columns).sparse("A", b.extents, flat=True),
        plain(bench, "sddmm", ctypes.c_int64(n), ctypes.c_int64(columns),
              *map(pointer, (pos, crd, b.values, c, d, a)), result=lambda: a)]


def shifted(b, by):
    """The columns of a matrix moved by some places, cyclically."""
    m = b.csr()
    m = scipy.sparse.csr_matrix((m.data, (m.indices + by) % b.extents[1], m.indptr), b.extents)
    m.sort_indices()
    return Stored(b.extents, [(None, None), (b.levels[1][0], m.indices)], m.data)


def add3(bench, b):
    n, operands = b.extents[0], (b, shifted(b, 1), shifted(b, 2))
    m = [operand.csr() for operand in operands]
    total = m[0] + m[1] + m[2]
    return (total.indptr, total.indices, total.data), [
        Distal(bench, "A(i, j) = B(i, j) + C(i, j) + D(i, j)",
               [("A" + CSR, None)] + [(name + CSR, operand) for name, operand in zip("BCD", operands)],
               assemble=True, n=n).sparse("A", b.extents),
        assembling(bench.plain, "add3", "plain", operands, numpy.int64),
        assembling(bench.eigen, "add3", "eigen", operands, numpy.int32),
        petsc(bench, "add3", b=operands[0], c=operands[1], d=operands[2]),
        scipy_peer(lambda: m[0] + m[1] + m[2])]


def spgemm(assemble):
    def kernel(bench, b):
        n, m = b.extents[0], b.csr()
        product = m @ m
        product.sort_indices()
        peers = [Distal(bench, "A(i, j) = B(i, k) * C(k, j)", [("A" + CSR, None), ("B" + CSR, b), ("C" + CSR, b)],
                        assemble=assemble, n=n).sparse("A", b.extents)]
        return (product.indptr, product.indices, product.data), peers + [
            assembling(bench.eigen, "spgemm", "eigen", [b], numpy.int32),
            petsc(bench, "spgemm", b=b),
            scipy_peer(lambda: m @ m)]

    return kernel


def csc(bench, b):
    n, m = b.extents[0], b.csr()
    other = m.tocsc()
    return (other.indptr, other.indices, other.data), [
        Distal(bench, "A(i, j) = B(i, j)", [("A(n, n): f64, csc", None), ("B" + CSR, b)],
               assemble=True, n=n).sparse("A", b.extents),
        assembling(bench.eigen, "csc", "eigen", [b], numpy.int32),
        petsc(bench, "csc", b=b),
        scipy_peer(m.tocsc)]


def from_coo(bench, b):
    n, (pos, crd) = b.extents[0], b.levels[1]
    row = numpy.repeat(numpy.arange(n, dtype=numpy.int32), numpy.diff(pos))
    one = numpy.array([0, len(crd)], numpy.int64)
    coo = Stored(b.extents, [(one, row), (None, crd)], b.values)
    m = scipy.sparse.coo_matrix((b.values, (row, crd)), b.extents)
    return (pos, crd, b.values), [
        Distal(bench, "A(i, j) = B(i, j)", [("A" + CSR, None), ("B(n, n): f64, coo", coo)],
               assemble=True, n=n).sparse("A", b.extents),
        scipy_peer(m.tocsr)]


def packing(bench, b):
    """Entries in random order, with coordinates as each library takes them."""
    n, (pos, crd) = b.extents[0], b.levels[1]
    order = numpy.random.default_rng(4).permutation(len(crd))
    row = numpy.repeat(numpy.arange(n, dtype=numpy.int32), numpy.diff(pos))[order]
    column, values = crd[order], b.values[order]
    context = bench.context(n=n)
    tensor, wide = context.tensor("A" + CSR), [row.astype(numpy.int64), column.astype(numpy.int64)]

    def result():
        levels, packed = context.levels(tensor, b.extents)
        return (*levels[1], packed)

    return (pos, crd, b.values), [
        Peer("distal", lambda: context.entries(tensor, wide, values), result, end=context.free),
        scipy_peer(lambda: scipy.sparse.coo_matrix((values, (row, column)), b.extents).tocsr())]


def ttv(bench, b):
    (n, m, q), (pos, crd) = b.extents, b.levels[2]
    c, a = random_matrix(2, q), numpy.empty(len(pos) - 1)
    reference = numpy.add.reduceat(b.values * c[crd], pos[:-1])
    return reference, [
        Distal(bench, "A(i, j) = B(i, j, k) * c(k)",
               [("A(n, m): f64, dcsr", None), ("B(n, m, q): f64, csf", b), ("c(q): f64", c)],
               n=n, m=m, q=q).sparse("A", b.extents[:2], flat=True),
        plain(bench, "ttv", ctypes.c_int64(len(a)), *map(pointer, (pos, crd, b.values, c, a)), result=lambda: a)]


def mttkrp(mode, columns=32):
    """The product with the matrices of the other modes than `mode`, one of 0, 1 and 2."""
    others = [m for m in range(3) if m != mode]

    def kernel(bench, b):
        n, ((_, crd1), (pos2, crd2), (pos3, crd3)) = b.extents, b.levels
        c, d = (random_matrix(2 + m, n[m], columns) for m in others)
        a = numpy.empty((n[mode], columns))
        fiber = numpy.repeat(numpy.arange(len(crd2)), numpy.diff(pos3))
        at = numpy.repeat(numpy.repeat(crd1, numpy.diff(pos2)), numpy.diff(pos3)), crd2[fiber], crd3
        reference = numpy.stack([numpy.bincount(at[mode], b.values * c[at[others[0]], l] * d[at[others[1]], l],
                                                minlength=n[mode]) for l in range(columns)], axis=1)
        (row, left, right), extent = ("ijk"[m] for m in (mode, *others)), "nmq"
        arrays = list(map(pointer, (crd1, pos2, crd2, pos3, crd3, b.values, c, d, a)))
        count = (n[mode], columns, len(crd1), *([mode - 1] if mode else []))
        return reference, [
            Distal(bench, f"A({row}, l) = B(i, j, k) * C({left}, l) * D({right}, l)",
                   [(f"A({extent[mode]}, r): f64", a), ("B(n, m, q): f64, csf", b),
                    (f"C({extent[others[0]]}, r): f64", c), (f"D({extent[others[1]]}, r): f64", d)],
                   n=n[0], m=n[1], q=n[2], r=columns).dense(a),
            plain(bench, "mttkrp_of" if mode else "mttkrp", *map(ctypes.c_int64, count), *arrays, result=lambda: a)]

    return kernel


MATRICES = {"band": band, "rmat": rmat, "lap": lap}
UNEVEN = {**MATRICES, "power": power, "row": full_row}
TENSORS = {"t3": t3, "nell2": nell2}
PRODUCTS = {"lap": lap, "rmat16": lambda bench: rmat(bench, 16)}

# By name: what is computed, the kernel, and the inputs that it is computed with.
KERNELS = {
    "spmv": ("y(i) = B(i, j) * x(j)", spmv, UNEVEN),
    "spmm8": ("A(i, k) = B(i, j) * C(j, k), 8 columns", spmm(8), UNEVEN),
    "spmm32": ("the same, 32 columns", spmm(32), UNEVEN),
    "spmm128": ("the same, 128 columns", spmm(128), UNEVEN),
    "add3": ("A(i, j) = B(i, j) + C(i, j) + D(i, j), with assembly", add3, MATRICES),
    "sddmm": ("A(i, j) = B(i, j) * C(i, k) * D(j, k), 32 columns", sddmm, UNEVEN),
    "ttv": ("A(i, j) = B(i, j, k) * c(k)", ttv, TENSORS),
    "mttkrp1": ("A(i, l) = B(i, j, k) * C(j, l) * D(k, l), 32 columns", mttkrp(0), TENSORS),
    "mttkrp2": ("A(j, l) = B(i, j, k) * C(i, l) * D(k, l)", mttkrp(1), TENSORS),
    "mttkrp3": ("A(k, l) = B(i, j, k) * C(i, l) * D(j, l)", mttkrp(2), TENSORS),
    "spgemm": ("A(i, j) = B(i, k) * B(k, j), with assembly", spgemm(True), PRODUCTS),
    "spgemm-values": ("the same, values only, beside peers that assemble as well", spgemm(False), PRODUCTS),
    "csc": ("from CSR to CSC", csc, MATRICES),
    "coo": ("from sorted COO to CSR", from_coo, MATRICES),
    "pack": ("from entries in random order to CSR", packing, MATRICES),
}
QUICK = ["spmv", "spmm32", "add3", "sddmm", "mttkrp1", "csc"]


# --- Measuring


def differs(result, reference):
    """What is wrong with a result, or None. Sums may be added in another order."""
    if isinstance(reference, tuple):
        for name, part, expected in zip(("pos", "crd"), result, reference):
            if not numpy.array_equal(part, expected):
                return f"its {name} array differs"
        result, reference = result[2], reference[2]
    if result.shape != reference.shape:
        return f"its shape is {result.shape} and not {reference.shape}"
    error = numpy.max(numpy.abs(result - reference), initial=0) / max(numpy.max(numpy.abs(reference), initial=0), 1e-300)
    return None if error < 1e-11 else f"it is wrong by {error:.1e} of the largest element"


def execute(peer):
    peer.before()
    start = time.perf_counter()
    seconds = peer.run()
    wall = time.perf_counter() - start
    return wall if seconds is None else seconds


def measure(bench, table, kernel, function, name, stored):
    reference, peers = function(bench, stored)
    peers = [peer for peer in peers if peer]
    for peer in peers:
        execute(peer)
        wrong = differs(peer.result(), reference)
        if wrong:
            sys.exit(f"{peer.name}: {wrong}")
    del reference
    times = {peer.name: [] for peer in peers}
    limit = time.perf_counter() + bench.seconds
    for number in range(bench.repeat):
        if number >= 3 and time.perf_counter() > limit:
            break
        for peer in peers:
            times[peer.name].append(execute(peer))
    for peer in peers:
        peer.end()
    medians = {peer: numpy.median(values) for peer, values in times.items()}
    best = min(median for peer, median in medians.items() if peer != "distal")
    rate = stored.bytes() * 1e-9 if function is spmv else None
    for peer, values in times.items():
        low, high = numpy.percentile(values, [25, 75])
        table.row(kernel=kernel, input=name, library=peer, milliseconds=1e3 * medians[peer], **{"25 %": 1e3 * low, "75 %": 1e3 * high},
                  ratio=medians[peer] / best, **{"GB/s of the matrix": rate and rate / medians[peer]})
    compiled = peers[0].__dict__.get("compile_seconds")
    if bench.compile and compiled and compiled > 0.01:
        print(f"  {name:<8} compiled in {compiled:.2f} s", flush=True)


class Bench:
    def __init__(self, options):
        self.scale, self.repeat, self.seconds = options.scale, options.repeat, options.seconds
        self.compile = options.compile
        self.build = report.build_folder(options)
        self.folder = os.path.join(self.build, "bench")
        os.makedirs(self.folder, exist_ok=True)
        fast = ["-O3", "-march=native", "-fopenmp", "-fPIC", "-shared"]
        self.plain = self.shared("plain", ["mpicc", *fast], "sparse_plain.c")
        if not self.plain:
            sys.exit("mpicc is missing")
        self.eigen = self.shared("Eigen", ["g++", *fast, "-DNDEBUG", *self.flags("eigen3", "--cflags")], "sparse_eigen.cc")
        self.petsc = self.compiled("PETSc", ["mpicc", "-O3", *self.flags("PETSc", "--cflags")], "sparse_petsc.c",
                                   self.flags("PETSc", "--libs"))
        self.plain.plain_comm_self.restype = ctypes.c_void_p
        self.first = self.context()  # stays, as the last one to be freed finalizes MPI

    def flags(self, package, kind):
        done = subprocess.run(["pkg-config", kind, package], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return done.stdout.split() if done.returncode == 0 else ["-DMISSING"]

    def compiled(self, peer, command, source, libraries=()):
        target = os.path.join(self.folder, os.path.splitext(source)[0])
        if "-DMISSING" in command or subprocess.run(
                [*command, os.path.join(report.HERE, source), "-o", target, *libraries]).returncode:
            print(f"{peer} is missing and left out")
            return None
        return target

    def shared(self, peer, command, source):
        path = self.compiled(peer, command, source)
        return path and ctypes.CDLL(path)

    def context(self, **params):
        comm = self.plain.plain_comm_self()
        # MPI_Comm is a pointer in Open MPI, and in MPICH an int, of which these are the lower bits.
        return Context(self.build, ctypes.c_void_p(comm), **params)

    def bandwidth(self):
        data, times = numpy.ones(2**26), []
        self.plain.plain_sum.restype = ctypes.c_double
        for _ in range(7):
            start = time.perf_counter()
            self.plain.plain_sum(ctypes.c_int64(len(data)), pointer(data))
            times.append(time.perf_counter() - start)
        return data.nbytes / numpy.median(times[1:]) * 1e-9


def main():
    parser = report.parser(__doc__, 9)
    parser.add_argument("--scale", type=float, default=1, help="by how much inputs are larger (default: 1)")
    parser.add_argument("--seconds", type=float, default=10,
                        help="after which there are no more of them than 3 (default: 10)")
    parser.add_argument("--kernel", nargs="*", choices=KERNELS, help=f"default: all, quick: {' '.join(QUICK)}")
    parser.add_argument("--input", nargs="*", help="names of inputs (default: all, quick: the first one of a kernel)")
    parser.add_argument("--compile", action="store_true", help="also print how long compiling took, with an empty cache")
    options = report.parse(parser)
    if options.quick:
        options.repeat = min(options.repeat, 5)

    with tempfile.TemporaryDirectory(prefix="distal-bench-") as cache:
        if options.compile:
            os.environ["XDG_CACHE_HOME"] = cache
        bench = Bench(options)
        table = report.Report("sparse", options, {"kernel": 14, "input": 8, "library": 9},
                              {"milliseconds": ".2f", "25 %": ".2f", "75 %": ".2f", "ratio": ".2f", "GB/s of the matrix": ".1f"},
                              ["ratio"], mark=1)
        table.note("threads", THREADS, f"{THREADS} threads")
        rate = bench.bandwidth()
        table.note("memory", rate, f"reading memory: {rate:.1f} GB/s; ratios are those to the best of the others")
        inputs = {}
        for kernel in options.kernel or (QUICK if options.quick else KERNELS):
            text, function, named = KERNELS[kernel]
            print(f"{kernel}: {text}")
            for name in options.input or (list(named)[:1] if options.quick else named):
                if name in named:
                    if name not in inputs:
                        inputs[name] = named[name](bench)
                    measure(bench, table, kernel, function, name, inputs[name])
        table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
