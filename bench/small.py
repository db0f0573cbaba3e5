#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times what is small: what a planned product of 32 x 32 matrices on 2 ranks takes beyond the BLAS, as a plan and by
its text (distal_compute); what it takes to make a plan like one before, and to free it; what `distal run` of a tiny
program takes beyond `mpirun` of an MPI program that does nothing; what the first run of each example takes beyond the
second one, which finds the kernels in the cache; and SUMMA and Cannon's algorithm where ranks share cores, beside the
same written by hand with MPI and the BLAS (small_plain.c)."""
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import report

TINY = """param n = 32
machine M = grid(2)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x, y) -> M(x)
place B(x, y) -> M(x)
place C(x, y) -> M(*)
A(i, j) = B(i, k) * C(k, j)
"""
NOTHING = """#include <mpi.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
}
"""
MPI_COMPILER = ["mpicc", "-O2", "-std=gnu11"]
# (algorithm, grid, params of the example beside n, chunk)
ALGORITHMS = [("summa", (2, 2), "gx=2 gy=2"), ("summa", (2, 4), "gx=2 gy=4"), ("cannon", (2, 2), "g=2"), ("cannon", (3, 3), "g=3")]
ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")


def output(command, environment=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**ENVIRONMENT, **(environment or {})})
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def seconds_of(command, repeat, environment=None):
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        output(command, environment)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def blas_flags():
    return subprocess.run(["pkg-config", "--cflags", "--libs", "openblas"], stdout=subprocess.PIPE, text=True).stdout.split()


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.build = report.build_folder(options)
        self.distal = f"{self.build}/distal"

    def compile(self, name, *flags):
        target = f"{self.folder}/{name}"
        return target if report.compile_c(MPI_COMPILER, f"{name}.c", target, flags) else None

    def calls(self):
        library = [f"-I{report.ROOT}/include", f"-L{self.build}", "-ldistal", f"-Wl,-rpath,{self.build}"]
        program = self.compile("small_calls", *library, *blas_flags())
        if not program:
            return
        result = report.Report("small_calls", self.options, {"what": 38}, {"microseconds": ".2f"}, ["microseconds"])
        for n in (8, 32):
            plan, text, _, blas = map(float, output(["mpirun", "-n", "2", program, str(n)]).split())
            result.row(what=f"{n} x {n} on 2 ranks: BLAS alone", microseconds=1e6 * blas)
            result.row(what="distal_execute beyond it", microseconds=1e6 * (plan - blas))
            result.row(what="distal_compute beyond distal_execute", microseconds=1e6 * (text - plan))
        for ranks in (1, 2, 4):
            seconds = output(["mpirun", "--oversubscribe", "-n", str(ranks), program, "32"]).split()[2]
            result.row(what=f"distal_plan_create and _free on {ranks}", microseconds=1e6 * float(seconds))
        result.write()

    def starts(self):
        empty = f"{self.folder}/empty"
        tiny = f"{self.folder}/tiny.distal"
        for path, text in ((f"{empty}.c", NOTHING), (tiny, TINY)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        subprocess.run([*MPI_COMPILER, f"{empty}.c", "-o", empty], check=True)
        run = [self.distal, "run", tiny, "-q"]
        output(run)
        result = report.Report("small_starts", self.options, {"what": 38}, {"milliseconds": ".1f"}, ["milliseconds"])
        nothing = seconds_of(["mpirun", "-n", "2", empty], self.options.repeat)
        result.row(what="mpirun of MPI_Init and MPI_Finalize", milliseconds=1e3 * nothing)
        result.row(what="distal run beyond it", milliseconds=1e3 * (seconds_of(run, self.options.repeat) - nothing))
        result.row(what="distal check", milliseconds=1e3 * seconds_of([self.distal, "check", tiny], self.options.repeat))
        result.write()

    def first_compilations(self):
        result = report.Report("small_compilations", self.options, {"example": 24}, {"seconds": ".2f"}, ["seconds"], mark=1)
        examples = sorted(glob.glob(f"{report.ROOT}/examples/*.distal"))
        for path in examples[:3] if self.options.quick else examples:
            # Where there is no GPU, kernels for one are compiled for the host.
            cache = {"XDG_CACHE_HOME": f"{self.folder}/{os.path.basename(path)}",
                     "DISTAL_GPU": os.environ.get("DISTAL_GPU", "emulated")}
            found = json.loads(output([self.distal, "run", path, "-q", "--stats=json", "--oversubscribe"], cache))
            result.row(example=os.path.basename(path).split(".")[0], seconds=found["compile_seconds"])
        result.write()

    def shared_cores(self):
        program = self.compile("small_plain", *blas_flags(), "-lm")
        if not program:
            return
        result = report.Report("small_shared_cores", self.options, {"algorithm": 10, "ranks": 6, "n": 6},
                               {"ms by hand": ".2f", "ms": ".2f", "ratio": ".2f"}, ["ratio"], mark=3)
        for n in (144, 720) if self.options.quick else (48, 144, 720, 1440):
            for name, (rows, columns), params in ALGORITHMS:
                chunk = n // 4 if name == "summa" else n // rows
                words = [word for param in [f"n={n}", *params.split(), *([f"chunk={chunk}"] if name == "summa" else [])]
                         for word in ("-p", param)]
                plain = ["mpirun", "-n", str(rows * columns), program, name, str(n), str(rows), str(columns), str(chunk),
                         str(self.options.repeat)]
                run = [self.distal, "run", f"{report.ROOT}/examples/{name}.distal", "-q", *words, "--oversubscribe", "--warmup", "1",
                       "--repeat", str(self.options.repeat), "--stats=json", "--threads", "1"]
                crowded = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                           "OMPI_MCA_hwloc_base_binding_policy": "none"}
                by_hand = statistics.median(map(float, output(plain, crowded).split()))
                own = json.loads(output(run))["statements"][0]["seconds"]["median"]
                result.row(algorithm=name, ranks=rows * columns, n=n, ratio=own / by_hand,
                           **{"ms by hand": 1e3 * by_hand, "ms": 1e3 * own})
        result.write()


def main():
    parser = report.parser(__doc__, repeat=15)
    parser.add_argument("--part", nargs="*", default=["calls", "starts", "first_compilations", "shared_cores"], help="some of: %(default)s")
    options = report.parse(parser)
    with tempfile.TemporaryDirectory(prefix="distal-bench-") as folder:
        bench = Bench(options, folder)
        for part in options.part:
            getattr(bench, part)()
    return 0


if __name__ == "__main__":
    sys.exit(main())
