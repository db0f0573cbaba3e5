#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that each folder of src/ includes only folders above it, that MPI stays in runtime/, operation/, api/ and cli/, and that
every file names its licence. Prints each breach as `file:line: what`, and exits 1 if there is one."""
import glob
import os
import re
import sys

# Top to bottom: a folder may include its own headers and those of the folders before it.
LAYERS = ["base", "memory", "machine", "relation", "loop", "format", "index", "schedule", "lang", "spmd", "lower", "plan", "cost", "emit",
          "jit", "cuda", "pipeline", "choose", "io", "runtime", "operation", "api", "cli"]
WITH_MPI = {"runtime", "operation", "api", "cli"}


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    os.chdir(root)
    breaches = []
    for path in sorted(glob.glob("src/**/*.[ch]", recursive=True)):
        folder = path.split("/")[1]
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        if folder not in LAYERS:
            breaches.append(f"{path}:1: folder '{folder}' is not a layer (tools/layers.py lists them)")
            continue
        allowed = LAYERS[:LAYERS.index(folder) + 1]
        for number, line in enumerate(lines, 1):
            include = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
            if not include:
                continue
            name = include.group(1)
            if name == "mpi.h" and folder not in WITH_MPI:
                breaches.append(f"{path}:{number}: {folder}/ must do without MPI")
            other = name.split("/")[0]
            if "/" in name and other in LAYERS and other not in allowed:
                breaches.append(f"{path}:{number}: {folder}/ may not include {other}/, a layer below it")
    for path in sorted(glob.glob("src/**/*.[ch]", recursive=True) + glob.glob("include/*.h")
                       + glob.glob("tests/**/*.c", recursive=True) + glob.glob("examples/*.c")):
        with open(path, encoding="utf-8") as file:
            if file.readline().rstrip() != "// SPDX-License-Identifier: BSD-3-Clause":
                breaches.append(f"{path}:1: the first line is not the licence's SPDX line")
    print("\n".join(breaches), end="\n" if breaches else "")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
