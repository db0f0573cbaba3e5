#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tensors in memory of GPUs and kernels on them, by the device that executes them on the host: results, what moves,
and what is said where there is no GPU.

Prints `ok NAME` or `FAIL NAME: why` for each case. A name on the command line runs the cases that contain it."""
import glob
import json
import os
import re
import subprocess
import sys

from _common import DISTAL, LIMIT_SECONDS, SOURCE, check, distal, functions_named_test, run_cases, stay

EMULATED = {"DISTAL_GPU": os.environ.get("DISTAL_GPU", "emulated")}  # "cuda": on a GPU
PARTIAL_RESULTS = 16 * 1024  # bytes of each statement, an element for each block
UNSUPPORTED = re.compile("not supported (in statements )?on (a GPU|GPUs)|On a GPU|on a GPU, no library call|executed on a GPU")

MIXED = """
param n = 29, p = 2
machine M = grid(p)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
tensor D(n, n): f32
tensor s: f64
place A(x, y) -> M(x) in gpu
place B(x, y) -> M(y) in disk
place C(x, y) -> M(x)
place D(x, y) -> M(y) in gpu
A(i, j) = B(i, k) * C(k, j)
C(i, j) = A(j, i) + D(i, j)
B(i, j) += C(i, k) * D(k, j)
s = A(i, j) * C(i, j)
"""


# Statements with workspaces that are filled inside of loops, and how. `w` is a row of each block where loops around
# write distinct elements, or one that all blocks fill; `s` is that of a thread or a block.
CHAIN = "A(i, l) = B(i, j) * C(j, k) * D(k, l)"
ROWS = [
    (CHAIN, "precompute(B(i, j) * C(j, k), {k}, {k}, w)"),
    (CHAIN, "precompute(B(i, j) * C(j, k), {k}, {k}, w); parallelize(i, gpu_block)"),
    (CHAIN, "precompute(B(i, j) * C(j, k), {k}, {kw}, w); parallelize(i, gpu_block); parallelize(kw, gpu_thread)"),
    (CHAIN, "precompute(B(i, j) * C(j, k), {k}, {kw}, w); split(kw, ko, ki, 8); parallelize(i, gpu_block); "
            "parallelize(ko, gpu_warp); parallelize(ki, gpu_thread)"),
    (CHAIN, "precompute(B(i, j) * C(j, k), {k}, {kw}, w); reorder({l, k}); parallelize(kw, gpu_block); "
            "parallelize(l, gpu_thread)"),
    (CHAIN, "precompute(B(i, j) * C(j, k), {k}, {k}, w); split(i, io, ii, 4); parallelize(io, gpu_block); "
            "parallelize(ii, gpu_block)"),
    (CHAIN, "precompute(B(i, j) * C(j, k), {k}, {k}, w); split(k, ko, ki, 8); reorder({i, ko, ki})"),
    (CHAIN, "precompute(B(i, j) * C(j, k), {k}, {k}, w); precompute(D(k, l), {k}, {kv}, v)"),
    ("A(i, l) = exp(B(i, j)) * C(j, k) * D(k, l)",
     "precompute(exp(B(i, j)) * C(j, k), {k}, {k}, w); precompute(exp(B(i, j)), {}, {}, s)"),
    ("A(i, l) = B(i, j) * C(j, l) * D(i, l)", "precompute(B(i, j) * C(j, l), {}, {}, s)"),
    ("A(i, l) = B(i, j) * C(i, j) * D(i, l)", "precompute(B(i, j) * C(i, j), {}, {}, s)"),
    ("A(i, l) = B(i, j) * C(i, j) * D(i, l)",
     "precompute(B(i, j) * C(i, j), {}, {}, s); parallelize(i, gpu_block); parallelize(l, gpu_thread)"),
    ("A(i, l) = B(i, j) * C(i, j) * D(i, l)", "precompute(B(i, j) * C(i, j), {}, {}, s); parallelize(i, gpu_thread)"),
    ("A(i, l) = B(i, j) * C(i, j) * D(i, l)", "precompute(B(i, j) * C(i, j), {}, {}, s); parallelize(i, gpu_warp)"),
    ("y(l) = exp(B(i, j) * C(j, l)) * D(i, l)", "precompute(B(i, j) * C(j, l), {l}, {l}, w)"),
    ("y(i) = exp(B(i, j)) * C(j, k) * D(i, k)", "precompute(exp(B(i, j)) * C(j, k), {k}, {k}, w)"),
    ("y(l) = B(i, j) * C(i, j) * D(i, l)", "precompute(B(i, j) * C(i, j), {}, {}, s)"),
    ("y(l) = B(i, j) * C(i, j) * D(i, l)", "precompute(B(i, j) * C(i, j), {}, {}, s); parallelize(i, gpu_block, atomic)"),
    ("a = exp(B(i, j)) * D(i, l)", "precompute(exp(B(i, j)), {}, {}, s)"),
    ("y(i) += C(i, j) - pow(B(i, j), 2) * D(j, k)", "precompute(pow(B(i, j), 2), {j}, {j}, w)"),
]


# Statements whose loops add to the same elements, and what copies of these there are.
COPIES = [
    ("s = B(i, j) * C(i, j)", "split(i, io, ii, 5); reorder({io, ii, j}); parallelize(io, gpu_block, reduction); parallelize(j, gpu_thread, reduction)"),
    ("y(j) = B(i, j) * x(i)", "reorder({i, j}); parallelize(i, gpu_block, temporary); parallelize(j, gpu_thread)"),
    ("y(i) = B(i, j) * x(j)", "split(j, jo, ji, 4); parallelize(i, gpu_block); parallelize(jo, gpu_warp, reduction); parallelize(ji, gpu_thread, temporary)"),
    ("y(j) = B(i, j) * x(i)", "split(i, io, ii, 3); reorder({io, ii, j}); parallelize(ii, gpu_thread, reduction)"),
    ("y(j) = B(i, j) * x(i)", "split(i, io, ii, 3); reorder({ii, io, j}); parallelize(ii, gpu_block, atomic); parallelize(io, gpu_thread, reduction)"),
    ("y(j) max= B(i, j) * x(i)", "reorder({i, j}); parallelize(i, gpu_thread, temporary)"),
    ("y(j) = B(i, j) * x(i)", "split(i, io, ii, 7); reorder({io, ii, j}); parallelize(io, gpu_warp, reduction); parallelize(ii, gpu_thread, atomic)"),
    ("A(i, j) += B(i, k) * C(k, j)", "split(k, ko, ki, 6); reorder({ko, i, j, ki}); parallelize(ko, gpu_block, reduction); parallelize(i, gpu_block); "
                                     "parallelize(j, gpu_thread)"),
]


def together(programs):
    """One program with the statements of several on the same machine, the tensors and workspaces of each with its number
    in their names: one launch executes them all, and messages name the tensor."""
    lines = []
    for number, program in enumerate(programs):
        names = "|".join(re.findall(r"^tensor (\w+)", program, re.M) + re.findall(r"^precompute\(.*\b(\w+)\)$", program, re.M))
        lines += [line for line in re.sub(rf"\b({names})\b", rf"\g<1>{number}", program).splitlines()
                  if line not in lines or not line.startswith(("param", "machine"))]
    return "\n".join(lines) + "\n"


def row_program(statement, commands, of="f64"):
    """A program with a statement of ROWS, on two processors with GPUs."""
    lines = ["param n = 29", "machine M = grid(2)"]
    for name, modes in re.findall(r"\b([ABCDay])\b(?:\(([^()]*)\))?", statement):
        shape = f"({', '.join(['n'] * len(modes.split(', ')))})" if modes else ""
        if f"tensor {name}{shape}: {of}" not in lines:
            lines += [f"tensor {name}{shape}: {of}", f"place {name}({modes}) -> M({modes[:1] or '*'}) in gpu"]
    schedule = "\n".join(commands.split("; "))
    return "\n".join(lines + [statement, f"schedule {statement[0]} {{", schedule, "}"]) + "\n"


def run(text, *options, status=0, environment=None):
    return distal(["run", "-e", text, "-q", *options], status=status, environment={**EMULATED, **(environment or {})})


def on_gpu(path):
    """The text of an example with all of its placements in memory of GPUs."""
    with open(path, encoding="utf-8") as file:
        return re.sub(r"^(place .*?)( in \w+)?$", r"\1 in gpu", file.read(), flags=re.M)


def test_mixed(folder):
    """Tensors in memory of the host, of GPUs, and in disk, in the same statements."""
    for ranks, n in (1, 29), (2, 1), (2, 29), (3, 2), (3, 29), (4, 1), (4, 29):
        run(MIXED, "-p", f"p={ranks}", "-p", f"n={n}", "--check", "--scratch", folder)


def test_copies(_):
    """Blocks, warps and threads with copies of a result, in as much memory as planned, and in no byte less."""
    for number, (statement, commands) in enumerate(COPIES):
        of = ("f64", "f32", "i64", "i32")[number % 4] if "max" in statement else ("f64", "c64", "f32", "c128", "i32")[number % 5]
        for ranks in (1, 3):
            lines = [f"param n = 29, p = {ranks}", "machine M = grid(p)"]
            for name, modes in sorted(set(re.findall(r"\b([ABCsxy])\b(?:\(([^()]*)\))?", statement))):
                lines += [f"tensor {name}{'(' + ', '.join(['n'] * len(modes.split(', '))) + ')' if modes else ''}: {of}",
                          f"place {name}{'(' + modes + ')' if modes else ''} -> M({modes[:1] or '0'}) in gpu"]
            text = "\n".join(lines + [statement, f"schedule {statement[0]} {{", commands.replace("; ", "\n"), "}"]) + "\n"
            planned = subprocess.run([DISTAL, "plan", "-e", text, "--stats=json", "--shared-memory", "on"], capture_output=True,
                                     timeout=LIMIT_SECONDS, check=False, text=True)
            check(planned.returncode == 0, f"{text}{planned.stderr}")
            peak = max(json.loads(planned.stdout)["statements"][0]["gpu_peak_bytes"])
            emulated = EMULATED["DISTAL_GPU"] == "emulated"
            run(text, "--check", environment={"DISTAL_GPU_MEMORY": str(peak)} if emulated else {})
            if emulated:
                done = run(text, status=1, environment={"DISTAL_GPU_MEMORY": str(peak - 1)})
                check("of GPU memory, of which" in done.stderr, done.stderr)


def test_pipelined(_):
    """Fetches of the next step while a kernel runs."""
    text = on_gpu(f"{SOURCE}/examples/summa.distal")
    for options in (["-p", "n=37", "-p", "chunk=5"], ["-p", "n=64", "-p", "gx=1", "-p", "chunk=16"]):
        run(text, *options, "--pipeline", "on", "--check")


def test_examples(folder):
    """Each dense example, on sizes that no block divides; those that are not supported on GPUs are refused. A rank takes
    no more GPU memory than planned: each runs in that much, and in no byte less."""
    emulated = EMULATED["DISTAL_GPU"] == "emulated"
    refused, ran = [], 0
    for path in sorted(glob.glob(f"{SOURCE}/examples/*.distal")):
        text = on_gpu(path)
        size = ["-p", "n=23"] if re.search(r"\bn = ", text) else []
        if "\nrepeat steps {" in text:  # Jacobi's iteration diverges with data that are drawn, and would take all rounds
            size += ["-p", "steps=7"]
        peaks = {}
        for shared in ("on", "off"):  # the limit is that of nodes of one rank, as it is checked before the launch
            planned = subprocess.run([DISTAL, "plan", "-e", text, "--stats=json", "--shared-memory", shared, *size],
                                     capture_output=True, timeout=LIMIT_SECONDS, check=False, text=True)
            check(planned.returncode == 0 or UNSUPPORTED.search(planned.stderr), f"{path}: {planned.stderr}")
            if planned.returncode == 0:
                statements = json.loads(planned.stdout)["statements"]
                peaks[shared] = max(max(of.get("gpu_peak_bytes", [0])) for of in statements)
        if not peaks:
            done = run(text, "--scratch", folder, *size, status=2)
            check(UNSUPPORTED.search(done.stderr), f"{path}: {done.stderr}")
            refused.append(os.path.basename(path))
            continue
        ran += 1
        limits = ["--gpu-memory-limit", str(peaks["off"])] if peaks["on"] > 0 else []
        enough, less = ({"DISTAL_GPU_MEMORY": str(peaks["on"] - fewer)} if emulated and limits else {} for fewer in (0, 1))
        run(text, "--check", "--scratch", folder, *limits, *size, environment=enough)
        if less:
            done = run(text, "--scratch", folder, *size, status=1, environment=less)
            check("of GPU memory, of which" in done.stderr, f"{path}: {done.stderr}")
        if limits:
            done = run(text, "--scratch", folder, "--gpu-memory-limit", str(peaks["off"] - 1), *size, status=1)
            check("of GPU memory, more than the limit of" in done.stderr, f"{path}: {done.stderr}")
    check(ran >= 20, f"only {ran} examples ran; refused: {refused}")


def test_planned_memory_of_a_copy(_):
    """What executions add to is restored from a copy in memory of the GPU, which counts."""
    text = ("machine M = grid(2); tensor A(64, 64): f64; tensor B(64, 64): f64;"
            "place A(x, y) -> M(x) in gpu; place B(x, y) -> M(x) in gpu; A(i, j) += B(i, j)")
    (statement,) = json.loads(distal(["plan", "-e", text, "--stats=json"]).stdout)["statements"]
    once = statement["gpu_peak_bytes"][0]
    again = once + 8 * 32 * 64
    for most, options in (once, []), (again, ["--repeat", "3"]):
        run(text, *options, "--gpu-memory-limit", str(most), environment={"DISTAL_GPU_MEMORY": str(most)})
        done = run(text, *options, "--gpu-memory-limit", str(most - 1), status=1)
        check("of GPU memory, more than the limit of" in done.stderr, done.stderr)
    done = run(text, "--repeat", "3", status=1, environment={"DISTAL_GPU_MEMORY": str(again - 1)})
    check("for a copy of A, which every execution restores" in done.stderr, done.stderr)


def test_memory_of_one_rank(_):
    """All is said where a rank other than the first one lacks memory."""
    text = "machine M = grid(2)\ntensor a(5): f64\nplace a(x) -> M(1) in gpu\na(i) = 2 * a(i)"
    done = run(text, status=1, environment={"DISTAL_GPU_MEMORY": "8"})
    check("rank 1 needs" in done.stderr and "rank 1 while it computes a: a 40 B at home" in done.stderr, done.stderr)


def test_contractions(_):
    """Products with loops around them and several loops for a dimension, in any order of modes: one call."""
    programs = []
    for statement in ("A(b, i, j) = B(b, i, k) * C(b, k, j)", "A(i, b, j) = B(k, i, b) * C(b, j, k)",
                      "A(a, b, c, d) = B(e, b, a, d) * C(c, e)", "A(a, b, c) = B(b, d, a) * C(d, c)",
                      "A(a, b, c, d, e, f) = B(d, e, g, a) * C(g, f, b, c)", "A(a, b, c, d) = B(a, e, b, f) * C(d, f, c, e)",
                      "A(i, j, l) = -2 * B(i, k, j) * C(k, l)", "A(b, c, i, j) += B(c, i, k, b) * C(b, j, k, c)"):
        accesses = re.findall(r"(\w)\(([^)]*)\)", statement)
        text = "param n = 5\nmachine M = grid(2)\n"
        for name, of in accesses:
            modes = of.split(", ")
            text += f"tensor {name}({', '.join('n + ' + str(ord(mode) % 3) for mode in modes)}): f64\n"
            text += f"place {name}({', '.join('xyzuvw'[:len(modes)])}) -> M(x) in gpu\n"
        programs.append(text + statement)
        emitted = distal(["emit", "-e", text + statement]).stdout
        check(emitted.count("distal_gpu_contract_f64(") == 1, emitted)
        loops = re.findall(r"for \(int64_t (\w+) =", emitted[emitted.index("void distal_kernel_0("):])
        check(all(loop in ("processor",) for loop in loops), f"{statement}: loops over {loops}")
    for n in (1, 2, 5):
        run(together(programs), "-p", f"n={n}", "--check")


# Statements, and the loops that become a call of which function.
CALLS = [
    ("y(i) = A(i, k) * x(k)", "substitute({i, k}, gemv)", "contract"),
    ("y(i) += 2 * A(k, i) * x(k)", "substitute({k, i}, gemv)", "contract"),
    ("B(i, j) = A(i, k) * C(k, j)", "reorder({j, i, k}); substitute({i, k}, gemv)", "contract"),
    ("A(i, j) += -2 * x(i) * z(j)", "substitute({i, j}, ger)", "contract"),
    ("A(i, j) = x(i) * z(j) * 3", "substitute({i, j}, blas)", None),
    ("B(i, j) = A(i, k) * C(k, j)", "reorder({k, i, j}); substitute({i, j}, ger)", "contract"),
    ("s = x(k) * z(k)", "substitute({k}, dot)", "contract"),
    ("s += 3 * A(i, k) * B(i, k)", "substitute({k}, dot)", "contract"),
    ("y(i) = A(i, k) * B(k, i)", "substitute({k}, dot)", "contract"),
    ("y(i) += 3 * x(i)", "substitute({i}, axpy)", "axpy"),
    ("y(i) = -2 * A(i, k)", "reorder({k, i}); substitute({i}, axpy)", "axpy"),
]


def call_program(statement, commands, of, on_host):
    """A program with a statement of CALLS; x and z are on the GPU or on the host."""
    lines = ["param n = 29, p = 2", "machine M = grid(p)"]
    for name, shape, place in (("A", "(n, n)", "(i, j) -> M(i)"), ("B", "(n, n)", "(i, j) -> M(j)"), ("C", "(n, n)", "(i, j) -> M(i)"),
                               ("x", "(n)", "(i) -> M(i)"), ("y", "(n)", "(i) -> M(i)"), ("z", "(n)", "(i) -> M(i)"), ("s", "", " -> M(*)")):
        if re.search(rf"\b{name}\b", statement):
            lines += [f"tensor {name}{shape}: {of}"] + ([f"place {name}{place}{'' if on_host and name in 'xz' else ' in gpu'}"] if shape else [])
    return "\n".join([*lines, statement, f"schedule {statement[0]} {{", *commands.split("; "), "}"]) + "\n"


def test_calls(_):
    """Products of matrices and vectors, of columns and rows, and sums of vectors as calls of the library."""
    programs = []
    for number, (statement, commands, function) in enumerate(CALLS):
        if function is None:
            done = distal(["check", "-e", call_program(statement, commands, "f64", False)], status=2)
            check("nothing is summed" in done.stderr, done.stderr)
            continue
        for on_host in (False, True):
            text = call_program(statement, commands, "f64", on_host)
            if "in gpu" not in text:
                continue
            emitted = distal(["emit", "-e", text]).stdout
            check(emitted.count(f"distal_gpu_{function}_f64(") == 1, emitted)
            programs.append(text)
    for n, ranks in ((1, 1), (29, 1), (29, 2), (31, 3)):
        run(together(programs), "-p", f"n={n}", "-p", f"p={ranks}", "--check")
    of = ("i64", "c128", "f32", "i32", "c64")
    run(together([call_program(statement, commands, of[number % 5], False)
                  for number, (statement, commands, function) in enumerate(CALLS) if function]), "--check")


def test_host_operands(_):
    """Operands on the host, tile by tile; the memory of the GPU that this takes."""
    path = f"{SOURCE}/examples/gpu_host.distal"
    sizes = ["-p", "n=61", "-p", "t=16", "-p", "c=8"]
    for ranks in (1, 2, 3):
        distal(["run", path, "-q", "--check", *sizes, "-p", f"p={ranks}"], environment=EMULATED)
    done = distal(["plan", path, "--stats=json", *sizes])
    (statement,) = json.loads(done.stdout)["statements"]
    both = 8 * 2 * (16 * 16 + 2 * 16 * 8) + PARTIAL_RESULTS  # buffers of a step and of the next one
    check(statement["gpu_peak_bytes"] == [both], statement["gpu_peak_bytes"])
    copied = {name: (of["bytes_to_gpu"][0], of["bytes_from_gpu"][0]) for name, of in statement["tensors"].items()}
    once, tiles = 8 * 61 * 61, 4  # of each strip, for each tile across
    check(copied == {"A": (0, once), "B": (tiles * once, 0), "C": (tiles * once, 0)}, copied)


def test_stats(_):
    """What the kernels ran on is said."""
    path = f"{SOURCE}/examples/gpu_summa.distal"
    done = distal(["run", path, "--stats", "-p", "n=7"], environment=EMULATED)
    through = "messages between GPUs go through host memory"
    read = f"{through}\nranks of a node read each other's GPU memory"
    check(f"\nkernels run on an emulated GPU, on the host\n4 ranks use 4 GPUs\n{read}\n" in done.stderr, done.stderr)
    done = distal(["run", path, "-v", "-p", "n=7", "--shared-memory", "off"], environment=EMULATED)
    check(f"\nkernels run on an emulated GPU, on the host\n4 ranks use 4 GPUs\n{through}\n" in done.stderr, done.stderr)
    done = distal(["run", path, "-v", "-p", "n=7", "-p", "gx=1", "-p", "hy=1"], environment=EMULATED)
    check("\nkernels run on an" in done.stderr and through not in done.stderr, done.stderr)
    for program, gpu in ((path, "an emulated GPU, on the host"), (f"{SOURCE}/examples/summa.distal", None)):
        done = distal(["run", program, "--stats=json", "-p", "n=7"], environment=EMULATED)
        check(json.loads(done.stdout)["gpu"] == gpu, done.stdout)


def test_messages(folder):
    """Messages from GPU to GPU: results, and nothing that is fetched from GPUs is copied through the host."""
    sent = {"DISTAL_GPU_MPI": "on"}
    for name in ("gpu_summa", "cannon", "cosma", "johnson", "pumma", "summa", "solomonik", "redistribute", "ttv", "mttkrp"):
        path = f"{SOURCE}/examples/{name}.distal"
        steps = ["-p", "chunk=5"] if name == "summa" else []
        for options in (steps, [*steps, "--pipeline", "on"]):
            for sums in ("on", "off") if name in ("cosma", "johnson", "mttkrp", "solomonik") else ("off",):  # which add up
                run(on_gpu(path), "-p", "n=37", "--shared-memory", "off", "--check", *options, environment={**sent, "DISTAL_GPU_NCCL": sums})
    for ranks in (2, 3, 4):
        run(MIXED, "-p", f"p={ranks}", "--check", "--scratch", folder, "--shared-memory", "off", environment=sent)
    text = "param n = 13\nmachine M = grid(4)\ntensor A(n, n): f64\ntensor B(n, n): f64\nplace A(x, y) -> M(x) in gpu\n" \
           "place B(x, y) -> M(y) in gpu\nA(i, j) = B(i, j)"
    for switch, copies in (("on", False), ("off", True)):
        done = distal(["run", "-e", text, "--stats=json", "--shared-memory", "off"],
                      environment={**EMULATED, "DISTAL_GPU_MPI": switch})
        (statement,) = json.loads(done.stdout)["statements"]
        copied = [statement["tensors"]["B"][f"bytes_{way}_gpu"] for way in ("to", "from")]
        check((sum(map(sum, copied)) > 0) == copies, f"{switch}: {copied}")
        done = distal(["run", "-e", text, "-v", "--shared-memory", "off"],
                      environment={**EMULATED, "DISTAL_GPU_MPI": switch})
        how = "messages between GPUs" if copies else "GPU-aware MPI sends what is fetched from GPU to GPU; partial results"
        check(f"\n{how} go through host memory\n" in done.stderr, done.stderr)
    done = distal(["plan", "-e", text, "--stats=json"], environment=sent)
    (statement,) = json.loads(done.stdout)["statements"]
    check(sum(statement["tensors"]["B"]["bytes_to_gpu"]) == 0, statement)
    # Checked before the launch as it runs: without copies on the host.
    run(text, "--shared-memory", "off", "--memory-limit", "1", environment=sent)
    run(text, "--shared-memory", "off", "--memory-limit", "1", environment={"DISTAL_GPU_MPI": "off"}, status=1)


def test_messages_choice(folder):
    """A value of DISTAL_GPU_MPI that says nothing is refused, before and after the launch; "" is as none."""
    del folder
    text = "machine M = grid(2)\ntensor a(5): f64\nplace a(x) -> M(x) in gpu\na(i) = 2 * a(i)"
    launched = [*os.environ.get("DISTAL_MPIRUN", "mpirun").split(), "-n", "2", DISTAL, "run", "-e", text, "-q"]
    for value in ("1", "ON", "yes"):
        environment = {**EMULATED, "DISTAL_GPU_MPI": value}
        after = subprocess.run(launched, capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS,
                               env={**os.environ, **environment})
        check(after.returncode == 1, f"exit status {after.returncode} after the launch: {after.stderr}")
        for done in (after, run(text, status=1, environment=environment),
                     distal(["plan", "-e", text], status=1, environment=environment)):
            check(f"error: DISTAL_GPU_MPI is '{value}', which is neither 'on' nor 'off'\n" in done.stderr and
                  done.stderr.count("error:") == 1, done.stderr)
    run(text, environment={"DISTAL_GPU_MPI": ""})
    distal(["run", "-e", text.replace(" in gpu", ""), "-q"], environment={"DISTAL_GPU_MPI": "1"})


def test_repeat(_):
    """Statements in rounds, and executions that are repeated."""
    text = """param n = 17, steps = 5
machine M = grid(2)
tensor u(n, n): f64
tensor v(n, n): f64
place u(x, y) -> M(x) in gpu
place v(x, y) -> M(x) in gpu
repeat steps {
  v(i, j) = 0.25 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1)) for i in 1 : n - 1, j in 1 : n - 1
  u(i, j) = v(i, j)
}
"""
    run(text, "--check")
    run("param n = 9\nmachine M = grid(2)\ntensor A(n, n): i32\nplace A(x, y) -> M(x) in gpu\nA(i, j) += 3 * A(i, j)",
        "--repeat", "3", "--warmup", "1", "--check")


def test_files(folder):
    """Inputs and results in files."""
    text = "param n = 13\nmachine M = grid(2)\ntensor A(n, n): f64\nplace A(x, y) -> M(y) in gpu\nA(i, j) = 2 * A(i, j)"
    run(text, "--in", "A=iota", "--out", f"A={folder}/a.npy")
    run(text, "--in", f"A={folder}/a.npy", "--print", "A", "--check")


def test_rows(_):
    """Workspaces that are filled inside of loops."""
    programs = {case: row_program(*case) for case in ROWS}
    sizes = {67: [text for (statement, _), text in programs.items() if "k" in statement],  # the check takes time
             300: [text for (statement, _), text in programs.items() if "k" not in statement]}
    for n in (1, 2, 29):
        sizes[n] = list(programs.values())
    for n, texts in sizes.items():
        run(together(texts), "-p", f"n={n}", "--check")
    of = ("i64", "c128", "f32", "i32", "c64")
    run(together([row_program(statement, commands, of[number % 5]) for number, (statement, commands) in enumerate(ROWS)
                  if "exp" not in statement and "pow" not in statement]), "--check")


def test_many_rows(_):
    """More rows than blocks that have memory for one: these take several, one after the other."""
    tensors = {"A": "n, m", "B": "n, m", "C": "m, m", "D": "m, m"}
    text = "param n = 2100, m = 3\nmachine M = grid(2)\n" + "".join(
        f"tensor {name}({shape}): f64\nplace {name}(i, j) -> M({'i' if shape[0] == 'n' else '*'}) in gpu\n"
        for name, shape in tensors.items())
    for commands in ([], ["parallelize(i, gpu_block)"],
                     ["split(i, io, ii, 8)", "parallelize(io, gpu_block)", "parallelize(ii, gpu_block)"]):
        schedule = "\n".join(["precompute(B(i, j) * C(j, k), {k}, {k}, w)", *commands])
        run(f"{text}{CHAIN}\nschedule A {{\n{schedule}\n}}", "--check=all")


def test_row_memory(_):
    """Blocks have so many rows that they take 256 MiB at most, or one; all of them are counted."""
    text = row_program(*ROWS[0])
    for n, copies in ((20, 10), (10**4, 1024), (10**5, 335)):
        done = distal(["plan", "--stats=json", "-e", text, "-p", f"n={n}"])
        (statement,) = json.loads(done.stdout)["statements"]
        rows = (8 * n + 63) // 64 * 64 * copies
        check(statement["gpu_peak_bytes"][0] - rows - PARTIAL_RESULTS == 8 * 4 * n * n,
              f"n = {n}: {statement['gpu_peak_bytes']}, of which rows take {rows}")


def test_no_gpu(_):
    """What needs no GPU works without, and what needs one says so on all ranks."""
    text = "machine M = grid(2)\ntensor a(5): f64\nplace a(x) -> M(x) in gpu\na(i) = 2 * a(i)"
    without = {"DISTAL_GPU": "none"}
    for command in ("check", "explain", "plan", "emit"):
        distal([command, "-e", text], environment=without)
    done = run(text, status=1, environment=without)
    check("the program is executed on a GPU, and there is none" in done.stderr, done.stderr)


def test_memory(_):
    """More than there is of memory of the GPU is refused before it is allocated."""
    text = "param n = 1\nmachine M = grid(2)\ntensor a(n): f64\nplace a(x) -> M(x) in gpu\na(i) = 2 * a(i)"
    done = run(text, "-p", "n=2000000000000", status=1)
    check("of GPU memory, of which" in done.stderr and done.stderr.count("error:") == 1, done.stderr)


def test_advice(_):
    """What is suggested where memory is short moves elements as the plan does: the largest value of the param that
    needs no more than the limit."""
    text = on_gpu(f"{SOURCE}/examples/summa.distal").replace("place C(x, y) -> M(x, y) in gpu", "place C(x, y) -> M(x, y)")
    for messages, shared, option, peaks in (("on", "off", "--memory-limit", "peak_bytes"),
                                            ("off", "on", "--gpu-memory-limit", "gpu_peak_bytes")):
        def plan(*more, status=0):
            return distal(["plan", "-e", text, "--pipeline", "off", "--shared-memory", shared, *more], status=status,
                          environment={"DISTAL_GPU_MPI": messages})
        (statement,) = json.loads(plan("-p", "chunk=64", "--stats=json").stdout)["statements"]
        done = plan(option, str(max(statement[peaks])), status=1)
        check("with -p chunk=64, no rank would need more than" in done.stderr, done.stderr)


if __name__ == "__main__":
    stay()
    sys.exit(run_cases(functions_named_test("gpu", globals())))
