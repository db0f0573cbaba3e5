#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tensors in disk whose home is a file of the user that all ranks share (`--in-place`): results, what is read and
written, files that do not fit, and failures of the disk.

Prints `ok NAME` or `FAIL NAME: why` for each case. A name on the command line runs the cases that contain it."""
import hashlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys

import numpy
from _common import DISTAL, DTYPE, check, distal, functions_named_test, preloaded, run_cases, wait_for

PLACEMENTS = ["M(x)", "M(y)", "M(*)", "M(cyclic(x, 3))", "M(cyclic(y, 2))", "M(0)", "M(balanced(x))"]


def product(ranks=2, shape=(23, 18, 29), tile=5, element="f64", place=("M(x)", "M(x)", "M(x)"), assign="="):
    """A = B * C in disk, by rows in tiles."""
    i, k, j = shape
    return f"""
param p = {ranks}, t = {tile}
machine M = grid(p)
tensor A({i}, {j}): {element}
tensor B({i}, {k}): {element}
tensor C({k}, {j}): {element}
place A(x, y) -> {place[0]} in disk
place B(x, y) -> {place[1]} in disk
place C(x, y) -> {place[2]} in disk
A(i, j) {assign} B(i, k) * C(k, j)
schedule A {{
  distribute(i, io, ii, M)
  split(ii, it, iii, t)
  split(j, jo, ji, t)
  split(k, ko, ki, t)
  reorder({{it, jo, ko, iii, ji, ki}})
  communicate(A, jo)
  communicate({{B, C}}, ko)
}}
"""


def together(programs):
    """One program of several on the same machine, the tensors of each with its number in their names: starting ranks takes
    most of the time of a run."""
    machine = "machine M = grid(p)\n"
    head = programs[0].split(machine)[0]
    return head + machine + "".join(re.sub(r"\b([ABC])\b", rf"\g<1>{number}", program.removeprefix(head + machine))
                                    for number, program in enumerate(programs))


def numbered(*names):
    """These names in a program for all placements."""
    return [f"{name}{number}" for number in range(len(PLACEMENTS)) for name in names]


def link(folder, *names):
    """Makes the files of inputs those of a program for all placements."""
    for name in numbered(*names):
        os.link(f"{folder}/{name[0]}.npy", f"{folder}/{name}.npy")


def files(*names):
    return sorted(f"{name}.npy" for name in names)


def inputs(folder, shape=(23, 18, 29), element="f64"):
    """Files of B and C, and their elements: integers, of which products are exact."""
    random = numpy.random.default_rng(7)
    i, k, j = shape
    arrays = [random.integers(-9, 10, extents).astype(DTYPE[element]) for extents in ((i, k), (k, j))]
    if element.startswith("c"):
        arrays = [array + 1j * random.integers(-9, 10, array.shape).astype(array.dtype) for array in arrays]
    for name, array in zip("BC", arrays):
        numpy.save(f"{folder}/{name}.npy", array)
    return arrays


def given(folder, *names):
    return [word for name in names for word in ("--in", f"{name}={folder}/{name}.npy")]


def in_place(*names):
    return [word for name in names for word in ("--in-place", name)]


def run(text, *options, status=0, environment=None):
    return distal(["run", "-e", text, "-q", *options], status=status, environment=environment)


def statements(command, text, *options):
    quiet = ["-q"] if command == "run" else []
    return json.loads(distal([command, "-e", text, *quiet, "--stats=json", *options]).stdout)["statements"]


def figures(statement):
    """What is read, written and moved of each tensor, and memory, by rank."""
    keys = ("bytes_read", "bytes_written", "reads", "writes", "bytes_received", "messages_received", "buffer_bytes", "in_place")
    return {"peak_bytes": statement["peak_bytes"],
            **{name: {key: tensor.get(key) for key in keys} for name, tensor in statement["tensors"].items()}}


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def counted(folder, text, *options, extra=()):
    """Runs what was planned without data; returns the figures of each statement."""
    planned = statements("plan", text, *options)
    done = statements("run", text, *options, *extra, "--scratch", folder)
    for before, after in zip(planned, done, strict=True):
        check(figures(before) == figures(after), f"planned {figures(before)}, counted {figures(after)}")
    return [figures(of) for of in done]


def test_inputs(folder):
    """Any placement and number of ranks, also more than there are rows."""
    b, c = inputs(folder)
    before = digest(f"{folder}/B.npy"), digest(f"{folder}/C.npy")
    link(folder, "B", "C")
    places = list(zip(PLACEMENTS, PLACEMENTS[2:] + PLACEMENTS[:2]))
    for ranks in (1, 2, 3, 5):
        text = together([product(ranks, place=("M(x)", *of)) for of in places])
        counted(folder, text, *in_place(*numbered("B", "C")),
                extra=(*given(folder, *numbered("B", "C")), "--check", *outputs(folder, *numbered("A"))))
        for number, of in enumerate(places):
            check(numpy.array_equal(numpy.load(f"{folder}/A{number}.npy"), b @ c), f"A on {ranks}, {of}")
            os.remove(f"{folder}/A{number}.npy")
    check(before == (digest(f"{folder}/B.npy"), digest(f"{folder}/C.npy")), "an input was changed")
    check(sorted(os.listdir(folder)) == files("B", "C", *numbered("B", "C")), os.listdir(folder))
    for name in ("B", "C"):
        os.remove(f"{folder}/{name}.npy")
    options = in_place("B", "C")
    text = product(12, shape=(5, 18, 29))
    b, c = inputs(folder, shape=(5, 18, 29))
    counted(folder, text, *options, "--pipeline", "on", extra=(*given(folder, "B", "C"), "--out", f"A={folder}/A.npy"))
    check(numpy.array_equal(numpy.load(f"{folder}/A.npy"), b @ c), "A of five rows on 12")
    check(sorted(os.listdir(folder)) == files("A", "B", "C", *numbered("B", "C")), os.listdir(folder))


def test_runs(folder):
    """Each row of a tile is a run, rows that are brought as a whole are one together; repeated executions read the same."""
    inputs(folder, (32, 32, 32))
    text = product(2, (32, 32, 32), 8)
    (of,) = counted(folder, text, *in_place("B", "C"), extra=(*given(folder, "B", "C"), "--repeat", "3"))
    tiles = 2 * 4 * 4  # of B on a rank, each of which is read once for each tile of the columns of A
    check(of["B"]["reads"] == [tiles * 8] * 2 and of["B"]["bytes_read"] == [tiles * 8 * 64] * 2, of["B"])
    check(of["B"]["in_place"] is True and of["A"]["in_place"] is None, of)
    whole = text.replace("communicate({B, C}, ko)", "communicate({B, C}, it)").replace("split(k, ko, ki, t)", "split(k, ko, ki, 32)")
    (of,) = counted(folder, whole, *in_place("B"), extra=given(folder, "B"))
    check(of["B"]["reads"] == [2, 2] and of["B"]["bytes_read"] == [16 * 32 * 8] * 2, of["B"])


def test_types_and_orders(folder):
    """All types; an array by column where the tensor is stored by column; a vector; extents of 0 and 1."""
    for element in DTYPE:
        b, c = inputs(folder, element=element)
        run(product(3, element=element), *given(folder, "B", "C"), *in_place("B", "C"), "--out", f"A={folder}/A.npy")
        check(numpy.array_equal(numpy.load(f"{folder}/A.npy"), b @ c), element)
    b, c = inputs(folder)
    numpy.save(f"{folder}/F.npy", numpy.asfortranarray(b))
    by_column = product(3).replace("tensor B(23, 18): f64", "tensor B(23, 18): f64, order(1, 0)")
    options = ["--in", f"B={folder}/F.npy", *in_place("B"), *given(folder, "C"), "--out", f"A={folder}/A.npy"]
    run(by_column, *options)
    check(numpy.array_equal(numpy.load(f"{folder}/A.npy"), b @ c), "by column")
    vector = "param n = {}; machine M = grid(3); tensor a: f64; tensor x(n): f64; place x(i) -> M(i) in disk; a = x(i) * x(i)"
    for n in (0, 1, 2, 1000):
        numpy.save(f"{folder}/x.npy", numpy.arange(n, dtype="f8"))
        done = run(vector.format(n), "--in", f"x={folder}/x.npy", "--in-place", "x")
        check(done.stdout == f"a = {sum(i * i for i in range(n))}\n", done.stdout)


def output(folder, name="A"):
    return ["--out", f"{name}={folder}/{name}.npy"]


def outputs(folder, *names):
    return [word for name in names for word in output(folder, name)]


def test_results(folder):
    """Any placement and number of ranks; a replicated result is written once."""
    b, c = inputs(folder)
    link(folder, "B", "C")
    for ranks in (1, 2, 3, 5):
        text = together([product(ranks, place=(place, "M(x)", "M(y)")) for place in PLACEMENTS])
        every = counted(folder, text, *in_place(*numbered("A", "B")),
                        extra=(*given(folder, *numbered("B", "C")), *outputs(folder, *numbered("A")), "--check"))
        for number, place in enumerate(PLACEMENTS):
            of = every[number][f"A{number}"]
            check(numpy.array_equal(numpy.load(f"{folder}/A{number}.npy"), b @ c), f"A on {ranks}, {place}")
            check(sum(of["bytes_written"]) == 23 * 29 * 8, f"A on {ranks}, {place}: {of}")
            check(of["in_place"], of)
            os.remove(f"{folder}/A{number}.npy")
    check(sorted(os.listdir(folder)) == files("B", "C", *numbered("B", "C")), os.listdir(folder))
    for name in ("B", "C"):
        os.remove(f"{folder}/{name}.npy")
    b, c = inputs(folder, shape=(5, 18, 29))
    text = product(12, shape=(5, 18, 29))
    counted(folder, text, *in_place("A", "B", "C"), "--pipeline", "on", extra=(*given(folder, "B", "C"), *output(folder)))
    check(numpy.array_equal(numpy.load(f"{folder}/A.npy"), b @ c), "A of five rows on 12")
    check(sorted(os.listdir(folder)) == files("A", "B", "C", *numbered("B", "C")), os.listdir(folder))


def accumulation(ranks, place, assign="="):
    """The sum is divided: partial results are added at home, and what comes back to a tile is read again."""
    text = product(ranks, tile=2, place=(place, "M(y)", "M(x)"), assign=assign)
    begin = text.index("schedule")
    return text[:begin] + """schedule A {
  distribute(k, ko, ki, M)
  split(i, io, ii, t)
  split(ki, kio, kii, t)
  reorder({kio, io, ii, kii, j})
  communicate(A, io)
  communicate({B, C}, kio)
}
"""


def test_partial_results(folder):
    """Partial results of several ranks, and of several times; results that are added to what an input has."""
    b, c = inputs(folder)
    a = numpy.arange(23 * 29, dtype="f8").reshape(23, 29)
    numpy.save(f"{folder}/start.npy", a)
    before = digest(f"{folder}/start.npy")
    link(folder, "B", "C")
    for ranks, pipeline, (assign, start) in itertools.product((1, 2, 4), ("off", "on"), (("=", 0), ("+=", a))):
        text = together([accumulation(ranks, place, assign) for place in PLACEMENTS])
        more = [word for name in numbered("A") for word in ("--in", f"{name}={folder}/start.npy")] + ["--repeat", "3"]
        every = counted(folder, text, *in_place(*numbered("A", "B", "C")), "--pipeline", pipeline,
                        extra=(*given(folder, *numbered("B", "C")), *outputs(folder, *numbered("A")),
                               *(more if assign == "+=" else [])))
        for number, place in enumerate(PLACEMENTS):
            check(numpy.array_equal(numpy.load(f"{folder}/A{number}.npy"), start + b @ c), f"A {assign} on {ranks}, {place}")
            check(sum(every[number][f"A{number}"]["bytes_read"]) > 0, every[number])
            os.remove(f"{folder}/A{number}.npy")
    # The file of the input may be that of the output.
    os.replace(f"{folder}/start.npy", f"{folder}/A.npy")
    for times in (1, 2):
        run(accumulation(2, "M(x)", "+="), *given(folder, "A", "B", "C"), *output(folder), *in_place("A"))
        check(numpy.array_equal(numpy.load(f"{folder}/A.npy"), a + times * (b @ c)), f"A, {times} times")
    check(before != digest(f"{folder}/A.npy"), "nothing was written")


def test_statements(folder):
    """A result that later statements read, on ranks that do not have it at home as well, in rounds."""
    b, c = inputs(folder, (16, 16, 16))
    text = """
machine M = grid(3)
tensor A(16, 16): f64
tensor B(16, 16): f64
tensor C(16, 16): f64
tensor D(16, 16): f64
place A(x, y) -> M(PLACE) in disk
place B(x, y) -> M(x) in disk
place C(x, y) -> M(*) in disk
place D(x, y) -> M(cyclic(y, 2)) in disk
repeat 2 {
  A(i, j) = B(i, k) * C(k, j)
  D(i, j) += A(j, i) + 2 * A(i, j)
}
"""
    for place in ("x", "y", "*", "1", "cyclic(x, 2)"):
        run(text.replace("PLACE", place), *given(folder, "B", "C"), "--in", "D=zeros", *output(folder), *output(folder, "D"),
            *in_place("A", "B", "C", "D"), "--check")
        a = numpy.load(f"{folder}/A.npy")
        check(numpy.array_equal(a, b @ c), f"A in {place}")
        check(numpy.array_equal(numpy.load(f"{folder}/D.npy"), 2 * (a.T + 2 * a)), f"D of A in {place}")


def test_drafts(folder):
    """Several outputs in place and others in a folder, also where drafts have names; what is there stays where a run fails."""
    b, c = inputs(folder)
    text = product(3) + "tensor S(23, 29): f64; place S(x, y) -> M(y) in disk; S(i, j) = 2 * A(i, j)\n" \
        "tensor T(23, 29): f64; place T(x, y) -> M(y) in disk; T(i, j) = 3 * A(i, j)\n"
    names = ("A", "S", "T")
    options = [*given(folder, "B", "C"), *in_place("A", "B", "S"), *(word for name in names for word in output(folder, name))]
    for environment in ({}, preloaded("no_unnamed_files")):
        for name in names:
            with open(f"{folder}/{name}.npy", "w", encoding="utf-8") as file:
                file.write(name)
        failing = {**preloaded("failing_disk"), "FAIL_WRITES": "10"}
        if not environment:
            done = run(text, *options, "--scratch", folder, status=1, environment=failing)
            check(done.stderr.count("error:") == 1 and "No space left on device" in done.stderr, done.stderr)
            check(all(open(f"{folder}/{name}.npy", encoding="utf-8").read() == name for name in names), "an output was replaced")
        run(text, *options, "--scratch", folder, environment=environment)
        for factor, name in zip((1, 2, 3), names):
            check(numpy.array_equal(numpy.load(f"{folder}/{name}.npy"), factor * (b @ c)), name)
        check(sorted(os.listdir(folder)) == ["A.npy", "B.npy", "C.npy", "S.npy", "T.npy"], os.listdir(folder))


def test_no_room(folder):
    """The room for a result is taken before anything is computed."""
    script = 'ulimit -f 65536; exec "$@"'  # 64 MiB, as the files of the MPI library have to fit
    text = "param n = 3000; machine M = grid(2); tensor A(n, n): f64; place A(x, y) -> M(x) in disk; A(i, j) = 1"
    for environment in ({}, preloaded("no_unnamed_files")):
        done = subprocess.run(["bash", "-c", script, "bash", DISTAL, "run", "-e", text, "-q", *output(folder), *in_place("A")],
                              capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **environment})
        check(done.returncode == 1 and done.stderr.count("error:") == 1 and "cannot write" in done.stderr and
              "File too large" in done.stderr, done.stderr)
        check(not os.listdir(folder), os.listdir(folder))


def test_killed(folder):
    """Nothing remains of a run that is interrupted, also where drafts have names."""
    inputs(folder)
    for environment, kind in (({}, signal.SIGKILL), (preloaded("no_unnamed_files"), signal.SIGTERM)):
        with subprocess.Popen([DISTAL, "run", "-e", product(2), "-q", *given(folder, "B", "C"), *output(folder), *in_place("A"),
                               "--repeat", "10000000"], stderr=subprocess.DEVNULL, start_new_session=True,
                              env={**os.environ, **environment, "DISTAL_TEST": f"in-place-{os.getpid()}"}) as process:
            check(wait_for(lambda: is_writing(folder), 60), "no draft was opened")
            os.kill(process.pid, kind)
            process.wait()
        check(wait_for(lambda: not is_writing(folder), 30), "a rank goes on")
        check(wait_for(lambda: sorted(os.listdir(folder)) == ["B.npy", "C.npy"], 10), os.listdir(folder))


def is_writing(folder):
    """Whether a process has a file of the folder open that was not there."""
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            links = [os.readlink(f"/proc/{number}/fd/{fd}") for fd in os.listdir(f"/proc/{number}/fd")]
        except OSError:
            continue
        if any(os.path.dirname(link) == os.path.realpath(folder) and not link.endswith((".npy", "dir")) for link in links):
            return True
    return False


def test_scratch(folder):
    """Nothing is in scratch: a folder that is not there is not missed, where no other tensor is in disk."""
    inputs(folder)
    text = product(2).replace("place A(x, y) -> M(x) in disk", "place A(x, y) -> M(x)")
    run(text, *given(folder, "B", "C"), *in_place("B", "C"), "--check", "--scratch", f"{folder}/nowhere")
    run(text, *given(folder, "B", "C"), *in_place("B"), "--scratch", f"{folder}/nowhere", status=1)


def test_hdf5(folder):
    """Contiguous data sets are used in place, others are refused."""
    import h5py  # pylint: disable=import-outside-toplevel
    b, c = inputs(folder)
    with h5py.File(f"{folder}/data.h5", "w") as file:
        file["run/B"] = b
        file.create_dataset("chunks", data=b, chunks=(4, 4))
    done = run(product(3), "--in", f"B={folder}/data.h5:/run/B", *in_place("B"), *given(folder, "C"), "--out",
               f"A={folder}/A.npy", status=None)
    if "built without HDF5" in done.stderr:
        return
    check(done.returncode == 0 and numpy.array_equal(numpy.load(f"{folder}/A.npy"), b @ c), done.stderr)
    done = run(product(3), "--in", f"B={folder}/data.h5:/chunks", *in_place("B"), status=1)
    check("does not store its elements contiguously" in done.stderr, done.stderr)
    # A data set without elements, for an operand and for a result.
    with h5py.File(f"{folder}/data.h5", "a") as file:
        file["empty"] = b[:0]
    for _ in range(2):
        run(product(3, (0, 18, 29)), "--in", f"B={folder}/data.h5:/empty", *in_place("A", "B"), *given(folder, "C"), "--out",
            f"A={folder}/data.h5:/A")
    with h5py.File(f"{folder}/data.h5") as file:
        check(file["A"].shape == (0, 29) and numpy.array_equal(file["run/B"], b), "it differs")


def test_hdf5_result(folder):
    """A data set is the home of a result, beside what else is in the file, which must not change meanwhile."""
    import h5py  # pylint: disable=import-outside-toplevel
    b, c = inputs(folder)
    path = f"{folder}/results.h5"
    with h5py.File(path, "w") as file:
        file["other"] = c
        file["run/A"] = numpy.full((23, 29), 7.0)  # its place in the file is used again
        file["run/D"] = numpy.full((23, 29), 7.0)
    for ranks, name in ((1, "A"), (3, "run/A"), (4, "new/group/A")):
        done = run(product(ranks), *given(folder, "B", "C"), "--out", f"A={path}:/{name}", *in_place("A"), status=None)
        if "built without HDF5" in done.stderr:
            return
        check(done.returncode == 0, done.stderr)
        with h5py.File(path) as file:
            check(numpy.array_equal(file[name], b @ c) and numpy.array_equal(file["other"], c), name)
    check(sorted(os.listdir(folder)) == sorted({"results.h5", "B.npy", "C.npy"}), os.listdir(folder))
    # Elements that no statement computes are zero, and not what was in their place.
    row = "param p = 3\nmachine M = grid(p)\ntensor A(23, 29): f64\ntensor C(18, 29): f64\n" \
          "place A(x, y) -> M(x) in disk\nA(2, j) = C(5, j)\n"
    run(row, *given(folder, "C"), "--out", f"A={path}:/run/D", *in_place("A"))
    with h5py.File(path) as file:
        check(numpy.array_equal(file["run/D"][2], c[5]) and file["run/D"][:].sum() == c[5].sum(), file["run/D"][:])
    two = product(2).replace("place A", "tensor D(23, 29): f64\nplace A", 1) + "D(x, y) = A(x, y)\n"
    done = run(two, *given(folder, "B", "C"), "--out", f"A={path}:/A", "--out", f"D={path}:/D", *in_place("A"), status=2)
    check("'A' needs a file that no other tensor is written to" in done.stderr, done.stderr)


def test_wrong_files(folder):
    """What cannot be in place is said once, on any number of ranks."""
    b, _ = inputs(folder)
    numpy.save(f"{folder}/column.npy", numpy.asfortranarray(b))
    numpy.save(f"{folder}/swapped.npy", b.astype(">f8"))
    numpy.save(f"{folder}/f32.npy", b.astype("f4"))
    numpy.save(f"{folder}/shape.npy", b[:, :9])
    with open(f"{folder}/B.npy", "rb") as file:
        content = file.read()
    with open(f"{folder}/short.npy", "wb") as file:
        file.write(content[:-8])
    begin = "tensor B cannot be in '{}' in place: its "
    for ranks, (name, why) in itertools.product((1, 3), {
            "column": "in place: it stores its elements by column", "swapped": begin + "byte order is not that of this machine",
            "f32": begin + "elements are f32, and those of B are f64", "shape": "its shape is (23, 9)",
            "short": "it is truncated", "nowhere": "No such file or directory"}.items()):
        done = run(product(ranks), "--in", f"B={folder}/{name}.npy", *in_place("B"), status=1)
        check(done.stderr.count("error:") == 1 and why.format(f"{folder}/{name}.npy") in done.stderr, done.stderr)


def test_wrong_options(folder):
    """Tensors that cannot be in place are refused before anything is started."""
    inputs(folder)
    on_host = product().replace("place B(x, y) -> M(x) in disk", "place B(x, y) -> M(x)")
    for text, options, why in ((product(), in_place("B"), "needs --in with a file that stores it contiguously"),
                               (product(), ["--in", "B=ones", *in_place("B")], "needs --in with a file that stores it contiguously"),
                               (product(), ["--in", f"B={folder}/B.tns", *in_place("B")], "needs --in with a file that stores it contiguously"),
                               (on_host, [*given(folder, "B"), *in_place("B")], "'B' is not placed in disk"),
                               (product(), in_place("A"), "'A' is computed, and needs --out with a file"),
                               (product(), ["--out", f"A={folder}/A.tns", *in_place("A")], "needs --out with a file"),
                               (product(), ["--out", f"A={folder}/A.h5", *in_place("A")], "needs --out with a file"),
                               (product(), ["--out", f"A={folder}/A.xyz", *in_place("A")], "the ending must be one of"),
                               (product(), ["--in", "B=foo:3", *in_place("B")], "'foo:3' is not a source for B"),
                               (product().replace("tensor A(23, 29): f64", "tensor A(23, 29): f64, order(1, 0)"),
                                ["--out", f"A={folder}/A.npy", *in_place("A")], "'A' is not stored by row"),
                               (product(), in_place("Q"), "the program has no tensor 'Q'")):
        done = run(text, *options, status=2)
        check(done.stderr.count("error:") == 1 and why in done.stderr, done.stderr)


def test_advice(folder):
    """Smaller pieces are suggested where tensors in place fit with them: with direct I/O, their files have no buffers."""
    inputs(folder, shape=(80, 80, 80))
    text = product(1, shape=(80, 80, 80), tile=40)
    options = [*given(folder, "B", "C"), "--out", f"A={folder}/A.npy", *in_place("A", "B", "C"), "--direct"]
    needed = re.search(r"needs (\d+) B of memory", run(text, *options, "--memory-limit", "1", status=1).stderr).group(1)
    done = run(text, *options, "--memory-limit", str(int(needed) - 1), status=1)
    check("note: with -p t=20, no rank would need more than" in done.stderr, done.stderr)


def test_failing_disk(folder):
    """Errors of reads in the middle are one diagnostic, on all ranks, and nothing hangs; short reads are none."""
    inputs(folder)
    environment = {**preloaded("failing_disk"), "FAIL_FILE": f"{folder}/B.npy"}
    options = [*given(folder, "B", "C"), *in_place("B", "C"), "--scratch", folder]
    run(product(3), *options, "--check", environment=environment)
    for pipeline, (failure, why) in itertools.product(("off", "on"), (
            ({}, "Input/output error"), ({"FAIL_SHORT": "1"}, "the file is shorter than it was"))):
        done = run(product(3), *options, "--pipeline", pipeline, status=1,
                   environment={**environment, "FAIL_READS": "20", **failure})
        check(done.stderr.count("error:") == 1 and "has failed to read or write tensor B in disk" in done.stderr and
              why in done.stderr, done.stderr)
    check(sorted(os.listdir(folder)) == ["B.npy", "C.npy"], os.listdir(folder))


if __name__ == "__main__":
    sys.exit(run_cases(functions_named_test("in_place", globals())))
