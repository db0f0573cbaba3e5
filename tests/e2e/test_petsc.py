#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A vector of PETSc, in place: where pkg-config finds PETSc with real numbers of double precision.

Prints `ok NAME` or `FAIL NAME: why` for each case."""
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["DISTAL_SOURCE"], os.environ["DISTAL_BUILD"]


def pkg_config(*options):
    path = os.environ.get("PKG_CONFIG_PATH", "") + ":/usr/lib/petsc/lib/pkgconfig"
    return subprocess.run(["pkg-config", *options, "petsc"], env=dict(os.environ, PKG_CONFIG_PATH=path),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)


def compile_vector(program):
    flags = pkg_config("--cflags", "--libs").stdout.split()
    return subprocess.run(["mpicc", f"{SOURCE}/tests/e2e/petsc/vector.c", f"-I{SOURCE}/include", f"-L{BUILD}",
                           f"-Wl,-rpath,{BUILD}", "-ldistal", *flags, "-o", program],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def main():
    if not shutil.which("pkg-config") or pkg_config("--exists").returncode or os.environ.get("DISTAL_SANITIZE"):
        print("ok petsc: not installed, passed over")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        built = compile_vector(f"{folder}/vector")
        if built.returncode:
            print(f"FAIL petsc: {built.stdout[:300]}")
            return 1
        for ranks in (1, 3, 4):
            run = subprocess.run(["mpirun", "-n", str(ranks), f"{folder}/vector"], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, check=False, timeout=120)
            right = run.returncode == 0 and run.stdout.strip() == "7021"
            failed += not right
            print(f"ok petsc/vector on {ranks}" if right else f"FAIL petsc/vector on {ranks}: {run.stdout[:300]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
