#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in files of HDF5, which a path names behind the file: what h5py writes is read by distal, and what distal
writes by h5py, on several numbers of ranks; arrays beside it stay; what is wrong is refused.

Prints `ok NAME` or `FAIL NAME: why` for each case."""
import os
import re
import sys

import h5py
import numpy

from _common import DTYPE, check, distal, functions_named_test, run_cases, stay

ROWS, COLUMNS = 37, 11
MACHINE = "param g = 1; machine M = grid(g);"
PLACES = {"rows": "place B(x, y) -> M(x);", "rows, cyclic": "place B(x, y) -> M(cyclic(x, 2));", "none": "",
          "columns, cyclic": "place B(x, y) -> M(cyclic(y, 1));"}


def program(kind="f64", place="", shape=(ROWS, COLUMNS), levels=""):
    extents = ", ".join(map(str, shape))
    indices = ", ".join("ijklm"[:len(shape)])
    left, right = (f"A({indices})", f"B({indices})") if shape else ("A", "B")
    return (f"{MACHINE} tensor A{f'({extents})' if shape else ''}: {kind};"
            f"tensor B{f'({extents})' if shape else ''}: {kind}{levels}; {place} {left} = 2 * {right}")


def run(text, ranks, source, target, status=0):
    return distal(["run", "-e", text, "-n", str(ranks), "-p", f"g={ranks}", "--in", f"B={source}", "--out", f"A={target}"],
                  status=status)


def run_together(programs, ranks, sources, targets):
    """One run of several programs, whose tensors get their numbers: starting ranks takes most of the time of a run."""
    text = MACHINE + "; ".join(re.sub(r"\b([AB])\b", rf"\g<1>{number}", program.removeprefix(MACHINE))
                               for number, program in enumerate(programs))
    options = [word for number, (source, target) in enumerate(zip(sources, targets, strict=True))
               for word in ("--in", f"B{number}={source}", "--out", f"A{number}={target}")]
    distal(["run", "-e", text, "-n", str(ranks), "-p", f"g={ranks}", *options])


def array(dtype="f8", shape=(ROWS, COLUMNS)):
    values = numpy.random.default_rng(3).integers(0, 100, shape)
    return (values + 1j * values[::-1] if numpy.dtype(dtype).kind == "c" else values).astype(dtype)


def test_types(folder):
    """Each type of HDF5 whose values a type of distal has all of, in its own byte order and in the other one."""
    types = [(kind, dtype) for kind, stored in (
        ("i32", "i1 u1 i2 u2 i4 >i4"), ("i64", "u4 i8 u8 >i8 >u8"), ("f32", "f2 f4 >f4"),
        ("f64", "f8 >f8 f4 >f2 i8"), ("c64", "c8 >c8"), ("c128", "c16 >c16 c8 f8")) for dtype in stored.split()]
    names = [f"{dtype} as {kind}" for kind, dtype in types]
    with h5py.File(f"{folder}/B.h5", "w") as file:
        for name, (_, dtype) in zip(names, types):
            file[name] = array(dtype)
    for ranks in (1, 3):
        run_together([program(kind, PLACES["rows"]) for kind, _ in types], ranks,
                     [f"{folder}/B.h5:/{name}" for name in names], [f"{folder}/A{ranks}.h5:/{name}" for name in names])
        with h5py.File(f"{folder}/A{ranks}.h5") as file:
            for name, (kind, dtype) in zip(names, types):
                check(file[name].dtype == numpy.dtype(DTYPE[kind]), f"{kind} is written as {file[name].dtype}")
                check(numpy.array_equal(file[name][...], 2 * array(dtype).astype(DTYPE[kind])), name)


def test_layouts(folder):
    """Arrays in one piece, in chunks, compressed, and partly never written, with any placement."""
    values = array()
    with h5py.File(f"{folder}/B.h5", "w") as file:
        file["contiguous"] = values
        file.create_dataset("a/chunks", data=values, chunks=(5, 4))
        file.create_dataset("a/b/compressed", data=values, chunks=(16, 3), compression="gzip", shuffle=True)
        file.create_dataset("part", (ROWS, COLUMNS), "f8", chunks=(5, 4), fillvalue=7)[3:9, 2:5] = values[3:9, 2:5]
        file.create_dataset("none", (ROWS, COLUMNS), "f8")
        whole = {name: file[name][...] for name in ("contiguous", "a/chunks", "a/b/compressed", "part", "none")}
    for place, text in PLACES.items():
        for ranks in (1, 2, 4, 5):
            run_together([program("f64", text)] * len(whole), ranks, [f"{folder}/B.h5:/{name}" for name in whole],
                         [f"{folder}/{ranks}.h5:/{place}/{name}" for name in whole])
        for ranks in (1, 2, 4, 5):
            with h5py.File(f"{folder}/{ranks}.h5") as file:
                for name, expected in whole.items():
                    check(numpy.array_equal(file[f"{place}/{name}"][...], 2 * expected), f"{name}, {place}, {ranks} ranks")


def test_shapes(folder):
    shapes = ((), (1,), (5,), (0,), (3, 0, 2), (2, 3, 4, 5), (7, 1, 3))
    with h5py.File(f"{folder}/B.h5", "w") as file:
        for shape in shapes:
            file[str(shape)] = array(shape=shape)
    run_together([program(shape=shape) for shape in shapes], 2, [f"{folder}/B.h5:/{shape}" for shape in shapes],
                 [f"{folder}/A.h5:/{shape}" for shape in shapes])
    with h5py.File(f"{folder}/A.h5") as file:
        for shape in shapes:
            found = file[str(shape)]
            check(found.shape == shape and numpy.array_equal(found[()], 2 * array(shape=shape)), f"{shape}")


def test_large(folder):
    """More elements than are read at once, in chunks that several ranks have parts of."""
    shape = (1300, 1100)
    values = array(shape=shape)
    with h5py.File(f"{folder}/B.h5", "w") as file:
        file.create_dataset("B", data=values, chunks=(100, 300), compression="gzip", compression_opts=1)
    run(program(place=PLACES["rows, cyclic"], shape=shape), 3, f"{folder}/B.h5:/B", f"{folder}/A.h5:/A")
    with h5py.File(f"{folder}/A.h5") as file:
        check(numpy.array_equal(file["A"][...], 2 * values), "it differs")


def test_beside(folder):
    """Other arrays and attributes of the file stay, and an array that is written again takes no more space."""
    values, path = array(), f"{folder}/A.h5"
    with h5py.File(path, "w") as file:
        file["other"] = values
        file["run/A"] = values
        file["run/A"].attrs["unit"] = "hartree"
        file["run/shape"] = values[1:]
        file["run/type"] = values.astype("f4")
        file["B"] = 3 * values
    os.chmod(path, 0o640)
    before = os.path.getsize(path)
    run(program(place=PLACES["rows"]), 3, f"{path}:/B", f"{path}:/run/A")
    check(os.path.getsize(path) == before, "the file has grown")
    check(os.stat(path).st_mode & 0o777 == 0o640, "the file has another mode")
    for name in ("run/shape", "run/type", "run/new/A"):
        run(program(place=PLACES["rows"]), 3, f"{path}:/B", f"{path}:/{name}")
    with h5py.File(path) as file:
        check(numpy.array_equal(file["other"][...], values), "another array is another one")
        check(file["run/A"].attrs["unit"] == "hartree", "an attribute is gone")
        for name in ("run/A", "run/shape", "run/type", "run/new/A"):
            check(file[name].dtype == "f8" and numpy.array_equal(file[name][...], 6 * values), f"{name} differs")
    check(os.listdir(folder) == ["A.h5"], "something is left")


def test_several(folder):
    """Several results of one run in one file."""
    text = ("machine M = grid(2); tensor A(9, 5): f64; tensor B(9, 5): f64; tensor C(9): f64; place A(x, y) -> M(x);"
            "place C(x) -> M(x); A(i, j) = 2 * B(i, j); C(i) = A(i, j)")
    for _ in range(2):
        distal(["run", "-e", text, "-n", "2", "--in", "B=iota", "--out", f"A={folder}/r.h5:/A", "--out", f"C={folder}/r.h5:/sums/C"])
        with h5py.File(f"{folder}/r.h5") as file:
            check(numpy.array_equal(file["A"][...].sum(axis=1), file["sums/C"][...]) and numpy.any(file["A"][...]), "it differs")


def test_sparse(folder):
    """Entries are the elements of an array that are not zero; what a sparse tensor does not store is zero in one."""
    values = array() * (array() > 60)
    with h5py.File(f"{folder}/B.h5", "w") as file:
        file["B"] = values
        file.create_dataset("chunks", data=values, chunks=(9, 4), compression="gzip")
    copy = ("param g = 1; machine M = grid(g); tensor A(37, 11): f64, csr; tensor B(37, 11): f64, csr;"
            "place B(x, y) -> M(x); A(i, j) = 2 * B(i, j)")
    for name in ("B", "chunks"):
        for ranks in (1, 3):
            run(program(place=PLACES["rows"], levels=", csr"), ranks, f"{folder}/B.h5:/{name}", f"{folder}/A.h5:/A")
            for _ in range(2):
                run(copy, ranks, f"{folder}/B.h5:/{name}", f"{folder}/A.h5:/S")
            with h5py.File(f"{folder}/A.h5") as file:
                check(numpy.array_equal(file["A"][...], 2 * values), f"{name} on {ranks} ranks")
                check(numpy.array_equal(file["S"][...], 2 * values), f"{name} on {ranks} ranks, sparse")


def expect(folder, source, target, message, text=None):
    error = run(text or program(place=PLACES["rows"]), 3, source, target, status=1).stderr
    check(f"distal: error: {message}\n" in error, error)
    check(not [name for name in os.listdir(folder) if name.startswith("distal-")], "a draft is left")


def test_wrong(folder):
    values, path = array(), f"{folder}/B.h5"
    with h5py.File(path, "w") as file:
        file["B"] = values
        file["group/B"] = values
        file["rows"] = values[1:]
        file["text"] = "text"
        file["truth"] = values > 50
        file["records"] = numpy.zeros((ROWS, COLUMNS), [("x", "f8"), ("y", "f8")])
        file["complex"] = values.astype("c16")
        file["long"] = numpy.full((ROWS, COLUMNS), 2 ** 63, "u8")
        file["nothing"] = h5py.Empty("f8")
        file["elsewhere"] = h5py.ExternalLink("other.h5", "/B")
    with open(f"{folder}/text.h5", "w", encoding="ascii") as file:
        file.write("text")
    read = f"cannot read '{path}:/"
    for name, why in (("C", "it has no data set '/C'"), ("group", "it has no data set '/group'"),
                      ("text", "its elements are not numbers"), ("truth", "its elements are not numbers"),
                      ("records", "its elements are records, and not numbers"), ("nothing", "it has no elements"),
                      ("elsewhere", "it has no data set '/elsewhere'")):
        expect(folder, f"{path}:/{name}", f"{folder}/A.h5:/A", f"{read}{name}': {why}")
    expect(folder, f"{folder}/none.h5:/A", f"{folder}/A.h5:/A", f"cannot read '{folder}/none.h5:/A': No such file or directory")
    expect(folder, f"{folder}/text.h5:/A", f"{folder}/A.h5:/A",
           f"cannot read '{folder}/text.h5:/A': it is not a file of HDF5, or it is damaged")
    expect(folder, f"{path}:/long", f"{folder}/A.h5:/A", f"{read}long': one of its elements does not fit into i64",
           program("i64", PLACES["rows"]))
    error = run(program(), 3, f"{path}:/rows", f"{folder}/A.h5:/A", status=1).stderr
    check("(36, 11)" in error and "(37, 11)" in error, error)
    error = run(program(), 3, f"{path}:/complex", f"{folder}/A.h5:/A", status=1).stderr
    check("c128" in error and "f64" in error, error)
    expect(folder, f"{path}:/B", f"{folder}/text.h5:/A",
           f"cannot write '{folder}/text.h5': it is there, and is not a file of HDF5")
    expect(folder, f"{path}:/B", f"{path}:/group", f"cannot write '{path}': '/group' is there, and is not a data set")
    expect(folder, f"{path}:/B", f"{path}:/B/C", f"cannot write '{path}': HDF5 cannot create the data set '/B/C'")
    with h5py.File(path) as file:
        check(numpy.array_equal(file["B"][...], values), "the file has changed")
    check(sorted(os.listdir(folder)) == ["B.h5", "text.h5"], "something was written")


def test_other_file(folder):
    """A file that an external link to a group leads to is not written; a link to an array is replaced."""
    values, path, other = array(), f"{folder}/A.h5", f"{folder}/other.h5"
    with h5py.File(other, "w") as file:
        file["group/A"] = values
    with h5py.File(path, "w") as file:
        file["run/linked"] = h5py.ExternalLink("other.h5", "/group")
        file["A"] = h5py.ExternalLink("other.h5", "/group/A")
        file["run/B"] = values
    with open(other, "rb") as file:
        before = file.read()
    for name in ("/run/linked/A", "/run/linked/new/A"):
        expect(folder, f"{path}:/run/B", f"{path}:{name}",
               f"cannot write '{path}': an external link leads from '{name}' to another file")
    run(program(place=PLACES["rows"]), 3, f"{path}:/run/B", f"{path}:/A")
    with open(other, "rb") as file:
        check(file.read() == before, "the other file has changed")
    with h5py.File(path) as file:
        check(numpy.array_equal(file["A"][...], 2 * values), "it differs")


def test_twice(folder):
    text = "tensor A(3): f64; tensor B(3): f64; tensor C(3): f64; A(i) = B(i); C(i) = B(i)"
    for other in ("A", "A/C"):
        error = distal(["run", "-e", text, "--out", f"A={folder}/r.h5:/A", "--out", f"C={folder}/r.h5:/{other}"], status=2).stderr
        check("'A' is already written" in error, error)
    error = distal(["run", "-e", text, "--out", f"A={folder}/r.h5:/A", "--out", f"C={folder}/r.h5"], status=2).stderr
    check("'A' is already written" in error, error)


if __name__ == "__main__":
    stay()
    sys.exit(run_cases(functions_named_test("hdf5", globals())))
