#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Installs into a temporary tree and uses it as strangers do: a program built with pkg-config, one with CMake, one
with its kernel compiled ahead of time, the examples in C on several numbers of ranks; and compares the functions
that the library exports with the list beside this file.

Prints `ok NAME` or `FAIL NAME: why` for each case."""
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile
import traceback

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("DISTAL_SOURCE", os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ.get("DISTAL_BUILD", os.path.join(SOURCE, "build"))
SANITIZE = ["-fsanitize=address,undefined"] if os.environ.get("DISTAL_SANITIZE") else []
# What the sanitized shared library has in it, for programs that take the archive.
KEEP_LOADED = [f"{BUILD}/CMakeFiles/keep_loaded.dir/tests/support/keep_loaded.c.o"] if SANITIZE else []
EXAMPLES = os.path.join(SOURCE, "examples", "c")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
LAUNCHER = shlex.split(os.environ.get("DISTAL_MPIRUN", "mpirun"))
LIMIT_SECONDS = 300

# A sparse tensor of rank 1, for files in FROSTT's format.
OUTER_PRODUCT = [(i, j, k, i * j / k) for i in (1, 3, 8) for j in (2, 5, 6, 9) for k in (1, 4, 7)]

# Example, arguments, numbers of ranks, what it prints.
RUNS = [
    ("figure2", ["1", "1", "50", "7"], [1], r"sum of A: 61\d{3}\.\d+; B received by rank 0: 0 bytes"),
    ("figure2", ["2", "2", "101", "13"], [1, 2, 4], r"sum of A: 5\d{5}\.\d+; B received by rank 0: \d+ bytes"),
    ("figure2", ["3", "2", "101", "13"], [6], r"sum of A: 5\d{5}\.\d+; B received by rank 0: \d+ bytes"),
    ("own_arrays", [], [1, 2, 3, 8], r"rank 0 received: 0$"),
    ("own_arrays", ["5", "30", "4"], [7], r"rank 0 received: 0$"),
    ("cp_als", [], [1, 2, 3, 4, 6, 8], r"fit (0\.9999\d+|1\.0+) after \d+ sweeps on \d ranks"),
    ("cg", ["1000"], [1, 2, 3, 8], r"26 steps, relative residual \S+: solved"),
    ("sparse_cp_als", [], [1, 2, 3, 4], r"sweep 1: fit 0\.345799\nsweep 2: fit 0\.670416\nsweep 3: fit 0\.943145"),
    ("sparse_cp_als", ["{folder}/outer.tns"], [1, 2], r"sweep \d: fit (0\.9999\d+|1\.0+)$"),
    ("gcn", [], [1, 2, 5], r"the first layer is right"),
    ("gcn", ["2", "3"], [7], r"the first layer is right"),
    ("cp_als", ["3", "19", "8"], [5], r"fit (0\.9999\d+|1\.0+) after \d+ sweeps on 5 ranks"),
]


def run(command, **more):
    environment = dict(os.environ, **more.pop("environment", {}))
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False,
                          env=environment, **more)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(command)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def on_ranks(ranks, tree, command, **environment):
    environment["LD_LIBRARY_PATH"] = os.path.join(tree, "lib")
    return run([*LAUNCHER, "-n", str(ranks), *command], environment=environment)


def pkg_config(tree, *words, package="distal"):
    return run(["pkg-config", *words, package],
               environment={"PKG_CONFIG_PATH": os.path.join(tree, "lib", "pkgconfig")}).split()


def test_tree(tree, _):
    names = {os.path.relpath(path, tree) for path in glob.glob(f"{tree}/**", recursive=True) if os.path.isfile(path)}
    version = pkg_config(tree, "--modversion")[0]
    wanted = {"bin/distal", "include/distal.h", "include/distal_gpu.h", "include/distal_kernel.h", "lib/libdistal.so", "lib/libdistal.so.0",
              f"lib/libdistal.so.{version}", "lib/libdistal.a", "lib/pkgconfig/distal.pc",
              "lib/pkgconfig/distal-static.pc", "lib/cmake/distal/distalConfig.cmake",
              "lib/cmake/distal/distalConfigVersion.cmake", "lib/cmake/distal/distalTargets.cmake",
              "share/doc/distal/README.md", "share/doc/distal/docs/language.md", "share/doc/distal/examples/summa.distal",
              "share/doc/distal/examples/c/figure2.c", "share/man/man1/distal.1",
              "share/bash-completion/completions/distal"}
    assert wanted <= names, f"missing: {sorted(wanted - names)}"
    dynamic = run(["readelf", "-d", f"{tree}/lib/libdistal.so"])
    assert "soname: [libdistal.so.0]" in dynamic, dynamic
    assert version in run([f"{tree}/bin/distal", "--version"])


def test_links(tree, _):
    """Links of the installed documents lead to installed files; the header is with the other headers."""
    documents = glob.glob(f"{tree}/share/doc/distal/**/*.md", recursive=True)
    count = 0
    for document in documents:
        with open(document, encoding="utf-8") as file:
            for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", file.read()):
                count += 1
                assert link == "../include/distal.h" or os.path.exists(os.path.join(os.path.dirname(document), link)), f"{document}: {link}"
    assert count > 50, f"{count} links in {len(documents)} documents"


# The words on the command line, and a word that they are completed to.
COMPLETIONS = [(["distal", "pl"], "plan"), (["distal", "run", "--st"], "--stats"), (["distal", "help", "comm"], "communicate"),
               (["distal", "explain", "--stop-after", "lo"], "loops"), (["distal", "plan", "--pipeline", "o"], "off"),
               (["distal", "check", "sum"], "summa.distal")]


def test_completion(tree, _):
    script = f"{tree}/share/bash-completion/completions/distal"
    for words, wanted in COMPLETIONS:
        found = run(["bash", "-c", f"source {script}; COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; "
                     "_distal; echo ${COMPREPLY[@]}"], cwd=f"{tree}/share/doc/distal/examples").split()
        assert wanted in found and all(word.startswith(words[-1]) for word in found), f"{words}: {found}"


def test_manual(tree, _):
    """Every option and command is in the page for man(1), which has no line that roff takes for an unknown request."""
    with open(f"{tree}/share/man/man1/distal.1", encoding="utf-8") as file:
        page = file.read()
    requests = {line.split()[0] for line in page.splitlines() if line.startswith(".")}
    assert requests <= {".TH", ".SH", ".SS", ".TP", ".B", ".I", ".IP", ".PP", ".RS", ".RE", ".nf", ".fi", ".br"}, requests
    for word in ("run FILE", r"\-\-stats", "split(i, io, ii, s)", "SUMMA"):
        assert word in page, word


def test_destdir(_, folder):
    stage = os.path.join(folder, "stage")
    run(["cmake", "--install", BUILD], environment={"DESTDIR": stage})
    assert glob.glob(f"{stage}/**/include/distal.h", recursive=True), "nothing under DESTDIR"


def test_exports(tree, _):
    """To accept a change on purpose: nm -D --defined-only lib/libdistal.so | awk '{print $3}' | sort"""
    with open(os.path.join(HERE, "exports.txt"), encoding="utf-8") as file:
        listed = set(file.read().split())
    for name, option in (("libdistal.so", "-D"), ("libdistal.a", "-g")):
        lines = run(["nm", option, "--defined-only", f"{tree}/lib/{name}"]).splitlines()
        found = {line.split()[-1] for line in lines if re.match("[0-9a-f]+ ", line)}
        if SANITIZE:  # brings its own
            found &= listed
        assert found == listed, \
            f"{name}: not listed: {sorted(found - listed)}; listed and missing: {sorted(listed - found)}"


def test_header(tree, folder):
    """The header is C11 and C++, alone, and warns of nothing."""
    for compiler, standard, name in (("cc", "c11", "only.c"), ("c++", "c++17", "only.cc")):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#include <distal.h>\n")
        # MPI's own C++ bindings are not ours to mend.
        run([compiler, f"-std={standard}", "-fsyntax-only", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", *WARNINGS,
             path, *pkg_config(tree, "--cflags")])


def test_pkg_config(tree, folder):
    for name, source, words in (("figure2", f"{EXAMPLES}/figure2.c", []),
                                ("guest", f"{HERE}/consumer/guest.c", ["--static"])):
        run(["cc", "-std=c11", *WARNINGS, *SANITIZE, source, "-o", f"{folder}/{name}",
             *pkg_config(tree, "--cflags", "--libs", *words)])
    assert "sum of A" in on_ranks(4, tree, [f"{folder}/figure2"])
    on_ranks(2, tree, [f"{folder}/guest"])


def test_ends(tree, folder):
    """Programs that a failing call ends: one text for a failure that all ranks have in common, with no rank left."""
    run(["cc", "-std=c11", *WARNINGS, *SANITIZE, f"{HERE}/consumer/ends.c", "-o", f"{folder}/ends",
         *pkg_config(tree, "--cflags", "--libs")])
    missing = "distal_tensor_find: error: there is no tensor 'missing' (tensors: none)"
    for how, times in (("common", {1: 1, 3: 1}), ("check", {1: 1, 3: 1}), ("twice", {3: 1}), ("alone", {3: 1}), ("without", {1: 1})):
        for ranks, count in times.items():
            done = subprocess.run([*LAUNCHER, "-n", str(ranks), f"{folder}/ends", how], capture_output=True, text=True,
                                  timeout=60, check=False, env=dict(os.environ, LD_LIBRARY_PATH=f"{tree}/lib"))
            text = "distal_machine: error: the context is NULL" if how == "without" else missing
            assert done.returncode != 0 and done.stderr.count(text) == count and "still here" not in done.stdout, \
                f"{how} on {ranks} ended with {done.returncode}: {done.stdout}{done.stderr}"


def test_static(tree, folder):
    """The archive: nothing of the library is needed where the program runs, and kernels that are loaded find it."""
    run(["cc", "-std=c11", *WARNINGS, *SANITIZE, f"{EXAMPLES}/figure2.c", "-o", f"{folder}/static", *KEEP_LOADED,
         *pkg_config(tree, "--cflags", "--libs", package="distal-static")])
    sources = f"{EXAMPLES}/own_arrays.c"
    build_with_cmake(tree, f"{folder}/cmake-static", sources, "-DTARGET=distal_static",
                     f"-DCMAKE_EXE_LINKER_FLAGS={shlex.join(KEEP_LOADED)}")
    for program, prints in ((f"{folder}/static", "sum of A"), (f"{folder}/cmake-static/own_arrays", "received: 0")):
        assert "libdistal" not in run(["readelf", "-d", program]), program
        assert prints in on_ranks(2, folder, [program]), program
    # Names of the library's own are free for the application.
    with open(f"{folder}/names.c", "w", encoding="utf-8") as file:
        file.write("int agree(void);\nint agree(void) {\n    return 1;\n}\n")
    run(["cc", *SANITIZE, f"{HERE}/consumer/guest.c", f"{folder}/names.c", "-o", f"{folder}/names", *KEEP_LOADED,
         *pkg_config(tree, "--cflags", "--libs", package="distal-static")])
    run([f"{folder}/names"])


def build_with_cmake(tree, folder, sources, *options):
    run(["cmake", "-S", f"{HERE}/consumer", "-B", folder, f"-DCMAKE_PREFIX_PATH={tree}", f"-DSOURCES={sources}",
         f"-DCMAKE_C_FLAGS={shlex.join(WARNINGS + SANITIZE)}", *options])
    run(["cmake", "--build", folder])


def test_cmake(tree, folder):
    names = ("figure2", "own_arrays", "cp_als", "cg", "gcn", "sparse_cp_als")
    sources = ";".join(f"{EXAMPLES}/{name}.c" for name in names)
    build_with_cmake(tree, f"{folder}/cmake", sources)


def test_ahead_of_time(tree, folder):
    program = f"{SOURCE}/examples/summa.distal"
    run([f"{tree}/bin/distal", "emit", "-o", f"{folder}/summa.c", program])
    nowhere = {"DISTAL_CC": "/dev/null/cc", "XDG_CACHE_HOME": os.path.join(folder, "cache")}

    def build(name, *options, package="distal"):
        run(["cc", "-std=c11", "-O2", *SANITIZE, f"{folder}/summa.c", f"{EXAMPLES}/aot.c", "-o", f"{folder}/{name}",
             *options, *pkg_config(tree, "--cflags", "--libs", package=package)])

    def check(name, ranks, *arguments):
        output = on_ranks(ranks, tree, [f"{folder}/{name}", program, *arguments], **nowhere)
        assert "the product is right" in output, output

    build("aot", "-fopenmp")
    for ranks, arguments in ((1, []), (4, ["150"]), (2, ["37"])):
        check("aot", ranks, *arguments)
    build("aot-plain")  # one thread a rank
    check("aot-plain", 2, "37")
    build("aot-static", "-fopenmp", *KEEP_LOADED, package="distal-static")
    check("aot-static", 2, "37")
    # A sparse result takes two functions, and so does a sparse workspace of a dense one.
    with open(f"{SOURCE}/examples/spgemm.distal", encoding="utf-8") as file:
        product = file.read()
    workspace = product.replace("A(m, n): f64, csr", "A(m, n): f64").replace("= B(i, k)", "= 2 * B(i, k)") + \
        "schedule A { precompute(B(i, k) * C(k, j), {i, j}, {i, j}, W, csr) }\n"
    for name, text, factor in (("spgemm", product, "1"), ("workspace", workspace, "2")):
        with open(f"{folder}/{name}.distal", "w", encoding="utf-8") as file:
            file.write(text)
        run([f"{tree}/bin/distal", "emit", "-o", f"{folder}/{name}.c", f"{folder}/{name}.distal"])
        with open(f"{folder}/{name}.c", encoding="utf-8") as file:
            assert "distal_kernel_0_structure" in file.read(), name
        run(["cc", "-std=c11", "-O2", *WARNINGS, *SANITIZE, f"{folder}/{name}.c", f"{HERE}/consumer/assembled.c", "-o",
             f"{folder}/{name}", "-fopenmp", *pkg_config(tree, "--cflags", "--libs"), "-lm"])
        for ranks in (1, 3):
            output = on_ranks(ranks, tree, [f"{folder}/{name}", text, factor], **nowhere)
            assert "the product is right" in output, output
    # The kernel of another schedule is refused.
    with open(program, encoding="utf-8") as file:
        text = file.read().replace("communicate(A, jo)", "")
    other = os.path.join(folder, "other.distal")
    with open(other, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([f"{folder}/aot", other], capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS,
                          env=dict(os.environ, LD_LIBRARY_PATH=f"{tree}/lib", **nowhere))
    assert done.returncode != 0 and "emitted for another program" in done.stderr, done.stderr


def test_examples(tree, folder):
    with open(f"{folder}/outer.tns", "w", encoding="utf-8") as file:
        file.write("# i j k value\n" + "".join(f"{i} {j} {k} {value!r}\n" for i, j, k, value in OUTER_PRODUCT))
    for name, arguments, all_ranks, prints in RUNS:
        arguments = [argument.format(folder=folder) for argument in arguments]
        for ranks in all_ranks:
            output = on_ranks(ranks, tree, [f"{folder}/cmake/{name}", *arguments], OMP_NUM_THREADS="1")
            assert re.search(prints, output, re.MULTILINE), f"{name} on {ranks}: {output}"


def test_tour(tree, folder):
    """The programs in docs/library.md."""
    with open(f"{SOURCE}/docs/library.md", encoding="utf-8") as file:
        programs = [block for block in re.findall(r"```c\n(.*?)```", file.read(), re.DOTALL)
                    if "int main" in block and "cuda" not in block]  # tests/e2e/test_cuda.py has that one
    for name, program in zip(["tour", "lines"], programs, strict=True):
        with open(f"{folder}/{name}.c", "w", encoding="utf-8") as file:
            file.write(program)
        run(["cc", "-std=c11", *WARNINGS, *SANITIZE, f"{folder}/{name}.c", "-o", f"{folder}/{name}",
             *pkg_config(tree, "--cflags", "--libs")])
    for ranks in (1, 3):
        eigenvalue = on_ranks(ranks, tree, [f"{folder}/lines"])
        assert eigenvalue == "3.9777\n", f"on {ranks}: {eigenvalue}"
    sums = []
    for ranks in (1, 3):
        run([*LAUNCHER, "-n", str(ranks), f"{folder}/tour"], cwd=folder,
            environment={"LD_LIBRARY_PATH": os.path.join(tree, "lib")})
        sums.append(numpy.load(f"{folder}/y.npy"))
        os.remove(f"{folder}/y.npy")
    # Rows of 1000 numbers around one half.
    assert sums[0].shape == (1000,) and abs(sums[0].mean() - 500) < 5, sums[0]
    assert numpy.allclose(sums[0], sums[1], rtol=1e-12), "ranks change the result"


def main():
    failed = 0
    with tempfile.TemporaryDirectory(prefix="distal-install-") as folder:
        tree = os.path.join(folder, "tree")
        try:
            run(["cmake", "--install", BUILD, "--prefix", tree])
        except (AssertionError, OSError) as error:
            print(f"FAIL install: {error}")
            return 1
        for test in (test_tree, test_links, test_completion, test_manual, test_destdir, test_exports, test_header, test_pkg_config, test_ends, test_static, test_cmake,
                     test_ahead_of_time, test_examples, test_tour):
            name = "install/" + test.__name__[len("test_"):]
            try:
                test(tree, folder)
                print(f"ok {name}", flush=True)
            except Exception:  # the other cases still tell something
                failed += 1
                print(f"FAIL {name}: " + "\n    ".join(traceback.format_exc().splitlines()), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
