#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times kernels of distal on a GPU beside what it can do (gpu_plain.cu): products of matrices by cuBLAS, copies inside
of its memory and reads of it, copies from memory of the host. The figures are ratios of the two: 1 is the speed of the
machine. Needs a GPU and nvcc."""
import dataclasses
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import report

SIZE = {"f32": 4, "f64": 8}


@dataclasses.dataclass
class Kernel:
    statement: str
    extents: dict  # by index variable
    limit: str  # gemm: of so many operations and these extents; copy, read: as many bytes; fetch: or gemm, what is longer
    type: str = "f32"
    example: str = ""  # of examples/, in place of a statement, with tensors on the GPU
    params: tuple = ()

    def accesses(self):
        """(name, index variables), the result first."""
        return [(name, re.findall(r"\w+", variables)) for name, variables in re.findall(r"\b([A-Za-z]\w*)(?:\(([\w, ]*)\))?", self.statement)]

    def count(self, variables):
        return math.prod(self.extents[v] for v in variables)

    def bytes(self):
        return SIZE[self.type] * sum(self.count(variables) for _, variables in self.accesses())

    def shape(self):
        """Of the product of matrices: the extents of the result, that of the sum, and how many there are."""
        result, *operands = (set(variables) for _, variables in self.accesses())
        left, right = operands[0], set().union(*operands[1:])
        batch = result & left & right if len(operands) == 2 else set()
        return [self.count(variables) for variables in
                ((result & left) - batch, (result & right) - left - batch if len(operands) == 2 else result & right, left - result, batch)]

    def program(self):
        if self.example:
            with open(os.path.join(report.ROOT, f"examples/{self.example}.distal"), encoding="utf-8") as file:
                text = re.sub("f64", self.type, file.read())
            return text if self.limit == "fetch" else re.sub(r"^(place .*)$", r"\1 in gpu", text, flags=re.M)
        lines = ["machine M = gpu grid(1)"]
        for name, variables in dict(self.accesses()).items():
            extents = ", ".join(str(self.extents[v]) for v in variables)
            lines.append(f"tensor {name}{f'({extents})' if variables else ''}: {self.type}")
            dims = ", ".join(f"d{d}" for d in range(len(variables)))
            if variables:
                lines.append(f"place {name}({dims}) -> M.gpu({'d0'}) in gpu")
        return "\n".join([*lines, self.statement]) + "\n"


def cube(variables, extent):
    return dict.fromkeys(variables, extent)


def product(type, extent, example="", *params):
    return Kernel("A(i, j) = B(i, k) * C(k, j)", cube("ijk", extent), "fetch" if example == "gpu_host" else "gemm", type, example,
                  (f"n={extent}", *params))


def kernels(quick):
    n, c = (4096, 640) if quick else (8192, 1024)
    return {
        "gemm f64": product("f64", n),
        "gemm f32": product("f32", n),
        "summa 2 x 2": product("f64", n, "summa", f"chunk={n // 8}"),
        "cannon 2 x 2": product("f64", n, "cannon"),
        "johnson": product("f64", n, "johnson"),
        "host operands": product("f32", 2 * n, "gpu_host", f"t={n}", "c=1024"),
        "ttv": Kernel("A(i, j) = B(i, j, k) * c(k)", cube("ijk", c), "read"),
        "innerprod": Kernel("a = B(i, j, k) * C(i, j, k)", cube("ijk", c), "read"),
        "sum": Kernel("a = B(i, j, k)", cube("ijk", c), "read"),
        "row sums": Kernel("A(i) = B(i, j, k)", cube("ijk", c), "read"),
        "column sums": Kernel("A(j, k) = B(i, j, k)", cube("ijk", c), "read"),
        "add": Kernel("A(i, j, k) = B(i, j, k) + C(i, j, k)", cube("ijk", c), "copy"),
        "scale f64": Kernel("A(i, j, k) = 3 * B(i, j, k)", cube("ijk", c), "copy", "f64"),
        "transpose": Kernel("A(i, j) = B(j, i)", cube("ij", 4 * n), "copy"),
        "permute kij": Kernel("A(k, i, j) = B(i, j, k)", cube("ijk", c), "copy"),
        "permute ikj": Kernel("A(i, k, j) = B(i, j, k)", cube("ijk", c), "copy"),
        "permute jik": Kernel("A(j, i, k) = B(i, j, k)", cube("ijk", c), "copy"),
        "ttm": Kernel("A(i, j, l) = B(i, j, k) * C(k, l)", cube("ijk", c) | {"l": 64}, "gemm"),
        "ttm middle": Kernel("A(i, l, k) = B(i, j, k) * C(j, l)", cube("ijk", c) | {"l": 64}, "gemm"),
        "mttkrp": Kernel("A(i, l) = B(i, j, k) * C(j, l) * D(k, l)", cube("ijk", c) | {"l": 32}, "gemm"),
        "batched": Kernel("A(b, i, j) = B(b, i, k) * C(b, k, j)", cube("ijk", 512) | {"b": 128}, "gemm"),
        "four": Kernel("A(a, b, c, d) = B(a, e, b, f) * C(d, f, c, e)", cube("abcdef", 64 if quick else 96), "gemm"),
        "three": Kernel("A(a, b, c) = B(b, d, a) * C(d, c)", cube("abcd", c), "gemm"),
        "one": Kernel("A(a, b, c, d) = B(e, b, a, d) * C(c, e)", cube("abcde", 96 if quick else 144), "gemm"),
        "six": Kernel("A(a, b, c, d, e, f) = B(a, b, g, c) * C(g, d, e, f)", cube("abcdefg", 28), "gemm"),
    }


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder, self.limits = options, folder, {}
        self.distal = os.path.join(report.build_folder(options), "distal")
        self.plain = options.plain or os.path.join(folder, "gpu_plain")

    def limit(self, *words):
        if words not in self.limits:
            self.limits[words] = float(subprocess.run([self.plain, *map(str, words)], stdout=subprocess.PIPE, check=True).stdout)
        return self.limits[words]

    def limit_of(self, kernel):
        if kernel.limit in ("copy", "read"):  # a copy reads and writes
            return self.limit(kernel.limit, 2**32) * kernel.bytes() / 2**32 / (2 if kernel.limit == "copy" else 1)
        gemm = self.limit("gemm", kernel.type, *kernel.shape())
        if kernel.limit == "gemm":
            return gemm
        tiles = [int(word[2:]) for word in kernel.params if word.startswith("t=")]  # strips are fetched for each tile
        n = kernel.extents["i"]
        fetched = SIZE[kernel.type] * n * n * (2 * -(-n // tiles[0]) + 1)
        return max(gemm, self.limit("fetch", 2**30) * fetched / 2**30)

    def seconds(self, name, kernel):
        path = os.path.join(self.folder, "kernel.distal")
        with open(path, "w", encoding="utf-8") as file:
            file.write(kernel.program())
        options = [word for value in (kernel.params if kernel.example else ()) for word in ("-p", value)]
        done = subprocess.run([self.distal, "run", path, "-q", *options, "--warmup", "3", "--repeat", str(self.options.repeat), "--stats=json"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
        if done.returncode:
            print(f"{name}: {done.stderr.strip()}", flush=True)
            return None
        statement = json.loads(done.stdout)["statements"][0]
        return statement["seconds"]["median"]


def main():
    parser = report.parser(__doc__, 20)
    parser.add_argument("--plain", help="gpu_plain, compiled already")
    parser.add_argument("--only", help="a regular expression: kernels of these names")
    options = report.parse(parser)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        if not options.plain and not report.compile_c([nvcc, "-O2", "-arch=native"], "gpu_plain.cu", bench.plain, ["-lcublas"]):
            return 0
        if subprocess.run([bench.plain, "copy", "1024"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            print("gpu.py is left out: there is no GPU")
            return 0
        table = report.Report("gpu", options, {"kernel": 14, "limit": 6}, {"limit ms": ".3f", "ms": ".3f", "ratio": ".2f"}, ["ratio"], 1)
        for name, kernel in kernels(options.quick).items():
            if options.only and not re.search(options.only, name):
                continue
            limit = bench.limit_of(kernel)
            seconds = bench.seconds(name, kernel)
            table.row(**{"kernel": name, "limit": kernel.limit, "limit ms": limit * 1e3, "ms": seconds and seconds * 1e3,
                         "ratio": seconds and limit / seconds})
        table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
