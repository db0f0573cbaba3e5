#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs on GPUs with a driver and a cuBLAS that execute on the host (tests/support/fake_cuda.c): products of
matrices and vectors, what all ranks say where a call of the driver fails on one of them, and the program in
docs/library.md that gives the library memory of its own.

Prints `ok NAME` or `FAIL NAME: why` for each case. Without CUDA in the build, it says so and ends well."""
import json
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


def run_on_gpu(name, sizes, folder, failure=None, *options, fakes=None):
    with open(example(name), encoding="utf-8") as file:
        return run_program(re.sub(r"^(place .*)$", r"\1 in gpu", file.read(), flags=re.M), sizes, folder, failure, *options, fakes=fakes)


def run_program(text, sizes, folder, failure=None, *options, fakes=None):
    program = f"{folder}/program.distal"
    with open(program, "w", encoding="utf-8") as file:
        file.write(text)
    environment = {**os.environ, "LD_LIBRARY_PATH": FAKES + ":" + os.environ.get("LD_LIBRARY_PATH", ""), **(fakes or {})}
    environment.pop("DISTAL_GPU", None)
    if failure:
        environment["FAKE_CUDA_FAIL"] = failure
    return subprocess.run([DISTAL, "run", *(options or ["--check"]), *params(sizes), program], capture_output=True, check=False, text=True,
                          timeout=LIMIT_SECONDS, env=environment)


def pageable(folder):
    """Memory that cannot be pinned is used as it is."""
    done = run_on_gpu("summa", "n=300", folder, f"cuMemHostRegister:1:{OUT_OF_MEMORY}:0")
    check(done.returncode == 0 and ": ok\n" in done.stderr, done.stdout + done.stderr)


def several(folder):
    """Ranks of a node on one or several GPUs, which read each other's memory where all of the GPUs can."""
    read = "ranks of a node read each other's GPU memory"
    for devices in (1, 2, 3, 4):
        for opens, reads in (("off", False), ("same", devices == 1), ("on", True)):
            fakes = {"FAKE_CUDA_DEVICES": str(devices), "FAKE_CUDA_IPC": opens}
            done = run_on_gpu("summa", "n=60 chunk=7", folder, None, "--check", "-v", fakes=fakes)
            check(done.returncode == 0 and ": ok\n" in done.stderr, f"{fakes}: {done.stdout}{done.stderr}")
            used = f"4 ranks use {devices} GPU{'s' if devices > 1 else ''}\n"
            check(used in done.stderr and (read in done.stderr) == reads, f"{fakes}: {done.stderr}")


# With reductions to an owner, to all owners, and to each of the members of a group.
SUMMED = """
param n = 52
machine M = grid(4)
tensor B(n, n): f64
tensor x(n): f64
tensor y(n): f64
tensor u(n): c64
tensor v(n): c64
tensor s: c64
tensor A(n, n): f64
tensor D(n, n): i32
tensor E(n, n): i32
place B(i, j) -> M(j) in gpu
place x(i) -> M(i) in gpu
place y(i) -> M(i) in gpu
place u(i) -> M(i) in gpu
place v(i) -> M(i) in gpu
place s -> M(*) in gpu
place A(i, j) -> M(2) in gpu
place D(i, j) -> M(j) in gpu
place E(i, j) -> M(i) in gpu
y(i) = B(i, j) * x(j)
schedule y { distribute(j, jo, ji, M); reorder({i, ji}); substitute({i, ji}, gemv) }
s = u(i) * v(i)
schedule s { distribute(i, io, ii, M); substitute({ii}, dot) }
A(i, k) = B(i, j) * B(j, k)
schedule A { distribute(j, jo, ji, M) }
E(i, k) = D(i, j) * D(j, k)
schedule E { distribute(j, jo, ji, M) }
"""


COPIED = """
param n = 16
machine M = grid(1)
tensor y(n): f64
tensor B(n, n): f64
tensor x(n): f64
place y(j) -> M(j) in gpu
place B(i, j) -> M(j) in gpu
place x(i) -> M(i) in gpu
y(j) = B(i, j) * x(i)
schedule y {
  reorder({i, j})
  parallelize(i, gpu_block, temporary)
}
"""


def copies(folder):
    """Copies of a result for which there is no memory."""
    done = run_program(COPIED, "", folder, f"cuMemAlloc:3:{OUT_OF_MEMORY}:0", "-q")
    message = "rank 0 has not enough GPU memory for the 16 copies of tensor y that blocks, warps or threads add to, 16 elements each"
    check(done.returncode == 1 and message in done.stderr, f"{done.returncode}: {done.stderr}")


def moved(text, results, environment, folder):
    """What is received and copied of results."""
    done = run_program(text, "", folder, None, "--stats=json", "--shared-memory", "off", fakes=environment)
    check(done.returncode == 0, done.stdout + done.stderr)
    figures = [of["tensors"][name] for of, name in zip(json.loads(done.stdout)["statements"], results)]
    return [[sum(of[key]) for key in ("bytes_received", "messages_received", "bytes_from_gpu")] for of in figures]


def sums(folder):
    """NCCL combines partial results where each rank has a GPU of its own, and says where it does not."""
    if not os.path.exists(f"{FAKES}/libnccl.so.2"):
        print("no nccl.h, so NCCL is not tested")
        return
    sent = {"DISTAL_GPU_MPI": "on", "FAKE_CUDA_DEVICES": "4", "FAKE_NCCL_LOG": "1"}
    combined, host = "partial results are combined there\n", "partial results go through host memory"
    for more, said, calls in (({}, combined, True), ({"DISTAL_GPU_NCCL": "off"}, f"{host}\n", False),
                              ({"DISTAL_GPU_NCCL": "on"}, combined, True), ({"FAKE_CUDA_DEVICES": "2"}, f"{host}, as ranks share GPUs\n", False),
                              ({"DISTAL_GPU_MPI": "off"}, "messages between GPUs go through host memory\n", False)):
        done = run_program(SUMMED, "", folder, None, "--check", "-v", "--shared-memory", "off", fakes={**sent, **more})
        check(done.returncode == 0 and done.stderr.count(": ok\n") == 4 and said in done.stderr, f"{more}: {done.stderr}")
        check(("fake NCCL: " in done.stderr) == calls, f"{more}: {done.stderr}")
    os.symlink(f"{FAKES}/libcuda.so.1", f"{folder}/libnccl.so.2")
    done = run_program(SUMMED, "", folder, None, "--check", "-v", "--shared-memory", "off", fakes={**sent, "LD_LIBRARY_PATH": f"{folder}:{FAKES}"})
    check(done.returncode == 0 and f"{host}, as rank 0 has no NCCL (libnccl.so.2 is too old: it has no function ncclGetUniqueId)\n" in done.stderr, done.stderr)
    by_nccl = moved(SUMMED, "ysAE", sent, folder)
    by_host = moved(SUMMED, "ysAE", {**sent, "DISTAL_GPU_NCCL": "off"}, folder)
    check(all(a[:2] == b[:2] and a[2] == 0 < b[2] for a, b in zip(by_nccl, by_host)), f"{by_nccl}, {by_host}")
    for name in ("johnson", "solomonik"):
        ranks = {**sent, "FAKE_CUDA_DEVICES": "16"}
        done = run_on_gpu(name, "n=20", folder, None, "--check", "--shared-memory", "off", fakes=ranks)
        check(done.returncode == 0 and ": ok\n" in done.stderr, f"{name}: {done.stderr}")
    done = run_program(SUMMED, "", folder, None, "-q", "--shared-memory", "off", fakes={**sent, "DISTAL_GPU_NCCL": "yes"})
    check(done.returncode == 1 and "DISTAL_GPU_NCCL is 'yes', which is neither 'on' nor 'off'" in done.stderr, done.stderr)
    done = run_program(SUMMED, "", folder, None, "-q", "--shared-memory", "off", fakes={**sent, "FAKE_NCCL_FAIL": "ncclCommInitRank:1"})
    check(done.returncode == 1 and done.stderr.count("error:") == 1 and "ncclCommInitRank: unhandled system error" in done.stderr, done.stderr)


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


def compile_caller(text, folder):
    with open(f"{folder}/caller.c", "w", encoding="utf-8") as file:
        file.write(text)
    with open(f"{FAKES}/include_folder", encoding="utf-8") as file:
        headers = file.read().split(";")[0]
    libraries = f"{FAKES}:{BUILD}"
    subprocess.run([os.environ.get("MPICC", "mpicc"), "-std=gnu11", "-Wall", "-Wextra", "-Werror", *SANITIZE, "-isystem", headers,
                    f"-I{SOURCE}/include", f"{folder}/caller.c", "-o", f"{folder}/caller", f"-L{BUILD}", "-ldistal", f"-L{FAKES}", "-lcudart",
                    f"-Wl,-rpath,{libraries}", f"-Wl,-rpath-link,{libraries}"], check=True, timeout=LIMIT_SECONDS)


def run_caller(ranks, folder, fakes):
    launcher = shlex.split(os.environ.get("DISTAL_MPIRUN", "mpirun"))
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{FAKES}:{BUILD}:" + os.environ.get("LD_LIBRARY_PATH", ""), **fakes}
    environment.pop("DISTAL_GPU", None)
    return subprocess.run([*launcher, "-n", str(ranks), f"{folder}/caller"], capture_output=True, check=False, text=True,
                          timeout=LIMIT_SECONDS, env=environment)


def caller(folder):
    """The program of the documentation, as it is, and where a call of the driver fails on one rank."""
    with open(f"{SOURCE}/docs/library.md", encoding="utf-8") as file:
        programs = re.findall(r"```c\n(#include <cuda_runtime_api.h>\n.*?)```", file.read(), re.DOTALL)
    check(len(programs) == 1, f"docs/library.md has {len(programs)} programs with CUDA")
    compile_caller(programs[0], folder)
    failure = f"cuPointerGetAttribute:0:{ILLEGAL_ADDRESS}:1"
    for ranks, fails, wanted in ((1, "", "1000\n"), (3, "", "1000\n"), (3, failure, "distal_tensor_attach: error: ")):
        done = run_caller(ranks, folder, {"FAKE_CUDA_FAIL": fails})
        check((done.returncode != 0) == bool(fails) and wanted in done.stdout + done.stderr,
              f"on {ranks}, {fails}: {done.returncode}: {done.stdout}{done.stderr}")


# Each rank prints what it gets where one rank cannot join the GPUs of its group, twice, and when it can.
JOINING = """
#include <distal.h>
#include <stdio.h>
#include <stdlib.h>

static void try(distal_context *d, distal_statement *s, distal_tensor *y, const char *fails) {
    distal_plan *p = NULL;
    double whole[10] = {0};
    fails ? setenv("FAKE_NCCL_FAIL", fails, 1) : unsetenv("FAKE_NCCL_FAIL");
    const int failed = distal_plan_create(s, &p) || distal_execute(p) || distal_execute(p) || distal_tensor_gather(y, whole);
    printf("%s|%g\\n", failed ? distal_error(d) : "fine", whole[9]);
    distal_plan_free(p);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (int context = 0; context < 2; context++) {
        distal_context *d;
        distal_tensor *y, *B, *x;
        distal_statement *s;
        int64_t n = 10;
        distal_create(MPI_COMM_WORLD, &d);
        distal_machine(d, "M", "grid(2, 2)");
        distal_tensor_create(d, "y", DISTAL_F64, 1, &n, "y(i) -> M(i, *) in gpu", &y);
        distal_tensor_create(d, "B", DISTAL_F64, 2, (int64_t[]){n, n}, "B(i, j) -> M(i, j) in gpu", &B);
        distal_tensor_create(d, "x", DISTAL_F64, 1, &n, "x(j) -> M(0, j) in gpu", &x);
        distal_tensor_fill(B, "ones");
        distal_tensor_fill(x, "ones");
        distal_statement_create(d, "y(i) = B(i, j) * x(j)", &s);
        distal_schedule(s, "distribute({i, j}, {io, jo}, {ii, ji}, M); substitute({ii, ji}, gemv)");
        try(d, s, y, "ncclCommInitRank:3");
        try(d, s, y, "ncclCommInitRank:3");
        try(d, s, y, "ncclCommInitRank:0"); // whose group has been made
        try(d, s, y, NULL);
        distal_free(d);
    }
    MPI_Finalize();
}
"""


def joining(folder):
    """GPUs that cannot be joined fail plans on all ranks, each time, and not those after that."""
    if not os.path.exists(f"{FAKES}/libnccl.so.2"):
        print("no nccl.h, so NCCL is not tested")
        return
    compile_caller(JOINING, folder)
    done = run_caller(4, folder, {"DISTAL_GPU_MPI": "on", "DISTAL_SHARED_MEMORY": "off", "FAKE_CUDA_DEVICES": "4", "FAKE_NCCL_LOG": "1"})
    failed = done.stdout.count("error: the GPU failed: ncclCommInitRank: unhandled system error")
    fine = done.stdout.count("fine|10")
    check(done.returncode == 0 and failed == fine == 16 and "fake NCCL: 5 elements of 2 members" in done.stderr,
          f"{done.returncode}: {done.stdout}{done.stderr}")


def main():
    if not os.path.exists(FAKES):
        print("ok cuda: skipped, as there is no CUDA in this build")
        return 0
    return run_cases([("cuda/several", several), ("cuda/sums", sums), ("cuda/joining", joining), ("cuda/copies", copies), ("cuda/saving", saving), ("cuda/pageable", pageable), ("cuda/caller", caller), ("cuda/calls", calls)] + [(f"cuda/{name}", product(name)) for name in PRODUCTS]
                     + [(f"cuda/{call} {after}", failing(call, after, *rest)) for call, after, *rest in FAILURES])


if __name__ == "__main__":
    sys.exit(main())
