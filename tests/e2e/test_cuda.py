#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs on GPUs with a driver and a cuBLAS that execute on the host (tests/support/fake_cuda.c): products of
matrices and vectors, what all ranks say where a call of the driver fails on one of them, and the program in
docs/library.md that gives the library memory of its own.

Prints `ok NAME` or `FAIL NAME: why` for each case. Without CUDA in the build, it says so and ends well."""
import os
import re
import shlex
import subprocess
import sys

from _common import DISTAL, LIMIT_SECONDS, SOURCE, check, example, params, run_cases
from test_gpu import CALLS, call_program

BUILD = os.path.dirname(os.path.abspath(DISTAL))
FAKES = f"{BUILD}/tests/fake_cuda"
SANITIZE = ["-fsanitize=address,undefined"] if os.environ.get("DISTAL_SANITIZE") else []
NO_DEVICE, OUT_OF_MEMORY, ILLEGAL_ADDRESS = 100, 2, 700

# Programs whose leaves are calls of the library, on as many ranks as their machines have processors.
PRODUCTS = ["summa", "cannon", "johnson", "pumma", "cosma", "solomonik", "hierarchical_summa", "block_cyclic"]

# The call that fails, how many go well before, its error, the rank, and what the command says then.
FAILURES = [
    ("cuInit", 0, NO_DEVICE, 1, "cuInit: no CUDA-capable device is detected"),
    ("cuDevicePrimaryCtxRetain", 0, OUT_OF_MEMORY, 2, "cuDevicePrimaryCtxRetain: out of memory"),
    ("cuMemAlloc", 0, OUT_OF_MEMORY, 1, "rank 1 has not enough memory on its GPU for its part of tensor A, 8192 bytes"),
    ("cuMemAlloc", 4, OUT_OF_MEMORY, 3, "rank 3 has not enough memory for the buffers of tensor B, 4096 bytes"),
    ("cuMemsetD8Async", 0, ILLEGAL_ADDRESS, 3, "cuMemsetD8Async: an illegal memory access was encountered"),
    ("cuMemcpyHtoDAsync", 1, ILLEGAL_ADDRESS, 0, "cuMemcpyHtoDAsync: an illegal memory access was encountered"),
    ("cuMemcpyDtoHAsync", 1, ILLEGAL_ADDRESS, 2, "cuMemcpyDtoHAsync: an illegal memory access was encountered"),
    ("cuStreamSynchronize", 4, ILLEGAL_ADDRESS, 1, "cuStreamSynchronize: an illegal memory access was encountered"),
]


def run_on_gpu(name, sizes, folder, failure=None, *options):
    with open(example(name), encoding="utf-8") as file:
        return run_program(re.sub(r"^(place .*)$", r"\1 in gpu", file.read(), flags=re.M), sizes, folder, failure, *options)


def run_program(text, sizes, folder, failure=None, *options):
    program = f"{folder}/program.distal"
    with open(program, "w", encoding="utf-8") as file:
        file.write(text)
    environment = {**os.environ, "LD_LIBRARY_PATH": FAKES + ":" + os.environ.get("LD_LIBRARY_PATH", "")}
    environment.pop("DISTAL_GPU", None)
    if failure:
        environment["FAKE_CUDA_FAIL"] = failure
    return subprocess.run([DISTAL, "run", *(options or ["--check"]), *params(sizes), program], capture_output=True, check=False, text=True,
                          timeout=LIMIT_SECONDS, env=environment)


def pageable(folder):
    """Memory that cannot be pinned is used as it is."""
    done = run_on_gpu("summa", "n=300", folder, f"cuMemHostRegister:1:{OUT_OF_MEMORY}:0")
    check(done.returncode == 0 and ": ok\n" in done.stderr, done.stdout + done.stderr)


def product(name):
    def test(folder):
        done = run_on_gpu(name, "n=60", folder)
        check(done.returncode == 0 and ": ok\n" in done.stderr, done.stdout + done.stderr)
    return test


def calls(folder):
    """Functions of cuBLAS for vectors."""
    for number, (statement, commands, function) in enumerate(CALLS):
        for ranks in (1, 2) if function else ():
            of = ("f64", "c64", "f32", "c128")[(number + ranks) % 4]
            done = run_program(call_program(statement, commands, of, False), f"p={ranks}", folder)
            check(done.returncode == 0 and ": ok\n" in done.stderr, statement + done.stdout + done.stderr)


def failing(call, after, error, rank, message):
    def test(folder):
        done = run_on_gpu("summa", "n=64 chunk=16", folder, f"{call}:{after}:{error}:{rank}")
        check(done.returncode == 1 and done.stderr.count("error:") == 1 and message in done.stderr, f"{done.returncode}: {done.stderr}")
    return test


def saving(folder):
    """Whichever call fails, also while the result is saved: one error and no file, or a file and none."""
    output = f"{folder}/A.npy"
    for call in ("cuMemcpyDtoHAsync", "cuStreamSynchronize"):
        for after in range(13):
            if os.path.exists(output):
                os.remove(output)
            done = run_on_gpu("summa", "n=48 chunk=16", folder, f"{call}:{after}:{ILLEGAL_ADDRESS}:1", "--out", f"A={output}")
            errors = done.stderr.count("error:")
            check(done.returncode == errors == 1 - os.path.exists(output), f"{call} {after}: {done.returncode}: {done.stderr}")


def caller(folder):
    """The program of the documentation, as it is, and where a call of the driver fails on one rank."""
    with open(f"{SOURCE}/docs/library.md", encoding="utf-8") as file:
        programs = re.findall(r"```c\n(#include <cuda_runtime_api.h>\n.*?)```", file.read(), re.DOTALL)
    check(len(programs) == 1, f"docs/library.md has {len(programs)} programs with CUDA")
    with open(f"{folder}/caller.c", "w", encoding="utf-8") as file:
        file.write(programs[0])
    with open(f"{FAKES}/include_folder", encoding="utf-8") as file:
        headers = file.read().split(";")[0]
    libraries = f"{FAKES}:{BUILD}"
    subprocess.run([os.environ.get("MPICC", "mpicc"), "-std=c11", "-Wall", "-Wextra", "-Werror", *SANITIZE, "-isystem", headers,
                    f"-I{SOURCE}/include", f"{folder}/caller.c", "-o", f"{folder}/caller", f"-L{BUILD}", "-ldistal", f"-L{FAKES}", "-lcudart",
                    f"-Wl,-rpath,{libraries}", f"-Wl,-rpath-link,{libraries}"], check=True, timeout=LIMIT_SECONDS)
    launcher = shlex.split(os.environ.get("DISTAL_MPIRUN", "mpirun"))
    failure = f"cuPointerGetAttribute:0:{ILLEGAL_ADDRESS}:1"
    for ranks, fails, wanted in ((1, "", "1000\n"), (3, "", "1000\n"), (3, failure, "distal_tensor_attach: error: ")):
        environment = {**os.environ, "LD_LIBRARY_PATH": libraries + ":" + os.environ.get("LD_LIBRARY_PATH", ""), "FAKE_CUDA_FAIL": fails}
        environment.pop("DISTAL_GPU", None)
        done = subprocess.run([*launcher, "-n", str(ranks), f"{folder}/caller"], capture_output=True, check=False, text=True,
                              timeout=LIMIT_SECONDS, env=environment)
        check((done.returncode != 0) == bool(fails) and wanted in done.stdout + done.stderr,
              f"on {ranks}, {fails}: {done.returncode}: {done.stdout}{done.stderr}")


def main():
    if not os.path.exists(FAKES):
        print("ok cuda: skipped, as there is no CUDA in this build")
        return 0
    return run_cases([("cuda/saving", saving), ("cuda/pageable", pageable), ("cuda/caller", caller), ("cuda/calls", calls)] + [(f"cuda/{name}", product(name)) for name in PRODUCTS]
                     + [(f"cuda/{call} {after}", failing(call, after, *rest)) for call, after, *rest in FAILURES])


if __name__ == "__main__":
    sys.exit(main())
