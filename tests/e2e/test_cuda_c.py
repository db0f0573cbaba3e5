#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The CUDA C of `distal emit` compiles without a warning, alternately for sm_80 and sm_90: of the examples, and of the statements
of statements.txt, test_functions.py and test_gpu.py in several types, with all tensors in memory of GPUs. What is refused there,
which other tests look at, is left out.

Prints `ok NAME` or `FAIL NAME: why` for each group. Without CUDA in the build, or NVRTC, it says so and ends well."""
import glob
import os
import re
import subprocess
import sys
import tempfile

from _common import DISTAL, LIMIT_SECONDS, SOURCE, check, run_cases
from test_functions import CASES
from test_gpu import ROWS, row_program

COMPILER = os.path.join(os.path.dirname(os.path.abspath(DISTAL)), "tests/compile_cuda")
TYPES = ["f64", "f32", "i32", "i64", "c64", "c128"]
ACCESS = re.compile(r"([A-Za-z]\w*)\(([^()]*)\)")
NAME = re.compile(r"\b([A-Za-z]\w*)\b(?!\s*\()")
REFUSED = re.compile("on (a GPU|GPUs)|which cannot be stored in '.' of type i", re.IGNORECASE)
NO_COMPILER = 77


def program(text, types):
    """A program with these statements on a grid of GPUs; types(name) is that of a tensor."""
    orders = {name: len(variables.split(",")) if variables.strip() else 0 for name, variables in ACCESS.findall(text)
              if name not in ("sqrt", "log", "exp", "pow", "max", "min", "abs", "sum", "prod", "real", "imag", "conj")}
    variables = {word for _, inner in ACCESS.findall(text) for word in re.findall(r"[a-z]\w*", inner)}
    for name in NAME.findall(text):
        if name not in variables:
            orders.setdefault(name, 0)
    orders.update((target, 0) for target in re.findall(r"(?:^|; )(\w+) \+?=", text))
    lines = ["param extent = 12", "machine M = grid(2)"]
    for name, order in orders.items():
        modes = ", ".join("stuvwxyz"[:order])
        shape = "(" + ", ".join(["extent"] * order) + ")" if order else ""
        lines += [f"tensor {name}{shape}: {types(name)}",
                  f"place {name}({modes}) -> M({'s' if order else '*'}) in gpu"]
    return "\n".join(lines + text.split("; ")) + "\n"


def emit(text, path):
    """Whether there is CUDA C of the program, which is written then."""
    done = subprocess.run([DISTAL, "emit", "-o", path, "-"], input=text, capture_output=True, timeout=LIMIT_SECONDS,
                          check=False, text=True)
    refused = REFUSED.search(done.stderr)
    check(done.returncode == 0 or refused, f"{text}{done.stderr}")
    return done.returncode == 0


def compile_all(choices, folder):
    """Compiles the first program of each choice of which there is CUDA C."""
    paths = [f"{folder}/{number}.c" for number, programs in enumerate(choices)
             if any(emit(text, f"{folder}/{number}.c") for text in programs)]
    check(paths, "there is nothing to compile")
    done = subprocess.run([COMPILER, *paths], capture_output=True, timeout=5 * LIMIT_SECONDS, check=False, text=True,
                          env={**os.environ, "XDG_CACHE_HOME": folder})
    check(done.returncode == 0, done.stdout + done.stderr)


def examples(folder):
    programs = []
    for path in sorted(glob.glob(f"{SOURCE}/examples/*.distal")):
        with open(path, encoding="utf-8") as file:
            programs.append([re.sub(r"^(place .*?)( in (disk|gpu))?$", r"\1 in gpu", file.read(), flags=re.M)])
    compile_all(programs, folder)


def statements():
    """The groups of statements.txt, but for contractions in the notation of TCCG."""
    groups, group = {}, ""
    with open(f"{SOURCE}/tests/e2e/statements.txt", encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("== "):
                group = line[3:]
            elif "=" in line and not line.startswith("#"):
                groups.setdefault(group, []).append(line)
    return groups


def in_types(text, number):
    """The program in each type, beginning with another one for each number."""
    return [program(text, lambda name, kind=TYPES[(number + t) % len(TYPES)]: kind) for t in range(len(TYPES))]


def compile_statements(lines):
    return lambda folder: compile_all([in_types(line, number) for number, line in enumerate(lines)], folder)


def functions(folder):
    compile_all([[program(text, lambda name, own=own, result=result: result if name == "A" else own)]
                 for own, result, text, *_ in CASES], folder)


def rows(folder):
    compile_all([[row_program(statement, commands, TYPES[(number + t) % len(TYPES)]) for t in range(len(TYPES))]
                 for number, (statement, commands) in enumerate(ROWS)], folder)


def main():
    if not os.path.exists(COMPILER):
        print("ok cuda: skipped, as there is no CUDA in this build")
        return 0
    with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
        file.write('#include "distal_gpu.h"\n')
        file.flush()
        if subprocess.run([COMPILER, file.name], check=False).returncode == NO_COMPILER:
            print("ok cuda: skipped, as there is no NVRTC")
            return 0
    return run_cases([("cuda/examples", examples), ("cuda/functions", functions), ("cuda/rows", rows)]
                     + [(f"cuda/{group}", compile_statements(lines)) for group, lines in statements().items()])


if __name__ == "__main__":
    sys.exit(main())
