#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Binsparse files: what distal writes is read by a reader of our own in Python, and files that h5py writes are read by
distal, on several numbers of ranks; files that are wrong are refused.

Prints `ok NAME` or `FAIL NAME: why` for each case."""
import json
import os
import resource
import sys

import h5py
import numpy

from _common import check, distal, functions_named_test, run_cases, stay

# Levels of the formats with a name: d dense, s sparse, S sparse of two dimensions; and whether columns come first.
NAMED = {"DVEC": ("d", False), "DMATR": ("dd", False), "DMAT": ("dd", False), "DMATC": ("dd", True), "CVEC": ("s", False),
         "CSR": ("ds", False), "CSC": ("ds", True), "DCSR": ("ss", False), "DCSC": ("ss", True), "COOR": ("S", False),
         "COO": ("S", False), "COOC": ("S", True)}
RANKS = {"d": 1, "s": 1, "S": 2, "T": 3}


def named_levels(name):
    letters, transposed = NAMED[name]
    order = sum(RANKS[letter] for letter in letters)
    return letters, list(range(order))[::-1] if transposed else list(range(order))


def read(path):
    """The format, and the array."""
    with h5py.File(path) as file:
        descriptor = json.loads(file.attrs["binsparse"])["binsparse"]
        arrays = {name: file[name][...] for name in file}
    shape = descriptor["shape"]
    for name, array in arrays.items():
        kind = descriptor["data_types"][name].removeprefix("complex[").removesuffix("]")
        check(array.dtype == numpy.dtype(kind), f"{name} is {array.dtype}, and said to be {kind}")
    if descriptor["format"] == "custom":
        letters, level = "", descriptor["custom"]["level"]
        while level["level_desc"] != "element":
            letters += "d" * level["rank"] if level["level_desc"] == "dense" else " sST"[level["rank"]]
            level = level["level"]
        modes = descriptor["custom"]["transpose"]
    else:
        letters, modes = named_levels(descriptor["format"])
    values = arrays["values"]
    if descriptor["data_types"]["values"].startswith("complex"):
        values = values.view("c16" if values.dtype == "f8" else "c8")
    positions, first = [((), 0)], 0
    for letter in letters:
        below = []
        indices = [arrays.get(f"indices_{first + d}") for d in range(RANKS[letter])]
        for coordinates, position in positions:
            if letter == "d":
                extent = shape[modes[first]]
                below += [(coordinates + (i,), position * extent + i) for i in range(extent)]
                continue
            begin, end = (0, len(indices[0])) if first == 0 else map(
                int, arrays[f"pointers_to_{first}"][position:position + 2])
            points = [tuple(int(list_[q]) for list_ in indices) for q in range(begin, end)]
            check(all(a < b for a, b in zip(points, points[1:])), f"coordinates from {first} on are not in order")
            below += [(coordinates + point, begin + q) for q, point in enumerate(points)]
        positions, first = below, first + RANKS[letter]
    check(len(positions) == len(values) == descriptor["number_of_stored_values"], "another number of values than positions")
    result = numpy.zeros(shape, values.dtype)
    for coordinates, position in positions:
        index = [0] * len(shape)
        for mode, coordinate in zip(modes, coordinates):
            index[mode] = coordinate
        result[tuple(index)] = values[position]
    return descriptor["format"], result


def write(path, array, letters, modes, name=None, kind=None, change=None, **more):
    """Writes the elements that are not zero (all below dense levels). `change` may alter arrays and the descriptor."""
    shape = array.shape
    points = [tuple(int(point[mode]) for mode in modes) for point in zip(*numpy.nonzero(array))]
    groups, arrays, first, level = [()], {}, 0, {"level_desc": "element"}
    for letter in letters:
        rank, below = RANKS[letter], []
        if letter == "d":
            below = [group + (i,) for group in groups for i in range(shape[modes[first]])]
        else:
            pointers = [0]
            for group in groups:
                below += sorted({point[:first + rank] for point in points if point[:first] == group})
                pointers.append(len(below))
            if first:
                arrays[f"pointers_to_{first}"] = numpy.array(pointers, "u8")
            for d in range(first, first + rank):
                arrays[f"indices_{d}"] = numpy.array([point[d] for point in below], "u2")
        groups, first = below, first + rank
    for letter in letters[::-1]:
        level = {"level_desc": "dense" if letter == "d" else "sparse", "rank": RANKS[letter], "level": level}
    index = [tuple(point[modes.index(mode)] for mode in range(len(shape))) for point in groups]
    values = numpy.array([array[i] for i in index], array.dtype)
    text = kind or (f"complex[{'float64' if array.dtype == 'c16' else 'float32'}]" if array.dtype.kind == "c"
                    else str(array.dtype))
    arrays["values"] = values.view(values.real.dtype) if array.dtype.kind == "c" else values
    descriptor = {"version": "0.1", "format": name or "custom", "shape": list(shape),
                  "number_of_stored_values": len(values),
                  "data_types": {**{key: str(value.dtype) for key, value in arrays.items()}, "values": text}, **more}
    if not name:
        descriptor["custom"] = {"level": level, "transpose": modes}
    if change:
        change(arrays, descriptor)
    with h5py.File(path, "w") as file:
        for key, value in arrays.items():
            file[key] = value
        file.attrs["binsparse"] = json.dumps({"binsparse": descriptor})


def sparse(seed, shape, dtype="f8", share=0.3):
    random = numpy.random.default_rng(seed)
    array = numpy.where(random.random(shape) < share, random.integers(1, 9, shape), 0).astype(dtype)
    return array * (1 + 2j) if numpy.dtype(dtype).kind == "c" else array


def copied_together(files, ranks):
    """What distal reads of each (path, shape, element, levels), by copies to arrays in one run: starting ranks takes most
    of the time of one."""
    program, options = f"param g = {ranks}\nmachine M = grid(g)\n", []
    folder = os.path.dirname(files[0][0])
    for number, (path, shape, element, levels) in enumerate(files):
        extents, indices = ", ".join(map(str, shape)), ", ".join("ijkl"[:len(shape)])
        program += f"""tensor A{number}({extents}): {element}
tensor B{number}({extents}): {element}{f", {levels}" if levels else ""}
place B{number}({indices}) -> M(i)
A{number}({indices}) = B{number}({indices})
"""
        options += ["--in", f"B{number}={path}", "--out", f"A{number}={folder}/A{number}.npy"]
    with open(f"{folder}/copy.distal", "w", encoding="utf-8") as file:
        file.write(program)
    distal(["run", f"{folder}/copy.distal", "-n", str(ranks), *options])
    return [numpy.load(f"{folder}/A{number}.npy") for number in range(len(files))]


def check_copies(cases, ranks):
    """Cases are (name, path, array, element, levels)."""
    found = copied_together([(path, array.shape, element, levels) for _, path, array, element, levels in cases], ranks)
    for (name, _, array, *_), copy in zip(cases, found):
        check(numpy.array_equal(copy, array), f"{name} on {ranks} ranks")


def test_written(folder):
    tensors = {"A": ("n, m", "f64, csr", "CSR"), "B": ("n, m", "f64, csc", "CSC"), "C": ("n, m", "f64, coo", "COOR"),
               "D": ("n, m", "f32, {compressed, dense}", "custom"), "E": ("n, m", "f64", "DMATR"),
               "F": ("n, m", "c128, dcsr", "DCSR"), "G": ("n, m", "i64, dcsr, order(1, 0)", "DCSC"),
               "H": ("n, m", "c64, coo, order(1, 0)", "COOC"), "I": ("n, m", "f64, {bitmap, bitmap}", "DCSR"),
               "J": ("m, n", "f64, csr", "CSR")}
    cubes = {"K": ("n, m, 3", "f32, csf", "custom"), "L": ("n, m, 3", "i32, coo", "custom"),
             "P": ("n, m, 3", "f64, {compressed, dense, compressed}, order(2, 0, 1)", "custom"),
             "Q": ("n, m, 3", "f64, {dense, compressed(nonunique), singleton}", "custom"),
             "R": ("n, m, 3", "f64, {compressed, dense, dense}, order(1, 2, 0)", "custom")}
    vectors = {"U": ("n", "i32, {compressed}", "CVEC"), "V": ("n", "f64", "DVEC")}
    lines = ["param n = 13, m = 7, g = 1", "machine M = grid(g)", "tensor X(n, m): i32, csr", "tensor Y(n, m, 3): i32, csf",
             "tensor Z(n): i32, {compressed}", "place X(i, j) -> M(i)", "place Y(i, j, k) -> M(j)"]
    everything = {**tensors, **cubes, **vectors}
    for name, (extents, levels, _) in everything.items():
        lines.append(f"tensor {name}({extents}): {levels}")
    for name in everything:
        source = "X(i, j)" if name in tensors else "Y(i, j, k)" if name in cubes else "Z(i)"
        lines.append(f"{name}{'(j, i)' if name == 'J' else source[1:]} = {source}")
    program = os.path.join(folder, "write.distal")
    with open(program, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    sources = ["--in", "X=sparse:1:40", "--in", "Y=sparse:2:60", "--in", "Z=sparse:3:6"]
    contents = {}
    for ranks in (1, 3, 5):
        command = ["run", program, "-n", str(ranks), "-p", f"g={ranks}", *sources]
        for name in everything:
            command += ["--out", f"{name}={folder}/{name}.h5"]
        distal(command)
        for name in everything:
            with open(f"{folder}/{name}.h5", "rb") as file:
                check(contents.setdefault(name, content := file.read()) == content, f"{name} on {ranks} ranks differs")
    command = ["run", program, *sources]
    for name in everything:
        command += ["--out", f"{name}={folder}/{name}.npy"]
    distal(command)
    for name, (_, _, kind) in everything.items():
        found, array = read(f"{folder}/{name}.h5")
        expected = numpy.load(f"{folder}/{name}.npy")
        check(found == kind, f"{name} is {found}, not {kind}")
        check(array.dtype == expected.dtype and numpy.array_equal(array, expected), f"{name} has other elements")
        check(numpy.any(expected != 0), f"{name} is zero")


def test_large(folder):
    """More entries than a block, a chunk and a message have, and rows without any."""
    program = ("param g = 3; machine M = grid(g); tensor A(900001, 70): f64, csr; tensor B(900001, 70): f64, csr;"
               "place B(i, j) -> M(i); A(i, j) = B(i, j)")
    distal(["run", "-e", program, "-n", "3", "--in", "B=sparse:1:400000", "--out", f"A={folder}/A.h5",
            "--out", f"B={folder}/B.tns"])
    distal(["run", "-e", program, "-n", "3", "--in", f"B={folder}/A.h5", "--out", f"A={folder}/A.tns"])
    with open(f"{folder}/A.tns", "rb") as a, open(f"{folder}/B.tns", "rb") as b:
        check(a.read() == b.read(), "what is read again is not what was written")


def test_no_space(folder):
    """A file that is larger than it may be: not written, and HDF5 does not end the process later on."""
    size, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    program = "tensor A(900001, 7): f64, csr; tensor B(900001, 7): f64, csr; A(i, j) = B(i, j)"
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 21, most))
    try:
        done = distal(["run", "-e", program, "--in", "B=sparse:1:400000", "--out", f"A={folder}/A.h5"], status=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    check(done.stderr == f"distal: error: cannot write '{folder}/A.h5': File too large\n", done.stderr)
    check(not os.listdir(folder), "something is left")


def test_empty(folder):
    for shape in ((0, 4), (4, 0), (3, 5)):
        program = (f"tensor A({shape[0]}, {shape[1]}): f64, csr; tensor B({shape[0]}, {shape[1]}): f64, csr;"
                   "A(i, j) = B(i, j)")
        distal(["run", "-e", program, "--in", "B=zeros", "--out", f"A={folder}/A.h5"])
        check(numpy.array_equal(read(f"{folder}/A.h5")[1], numpy.zeros(shape)), f"{shape} is not empty")
        distal(["run", "-e", program, "-n", "3", "--in", f"B={folder}/A.h5", "--out", f"A={folder}/A.npy"])
        check(numpy.load(f"{folder}/A.npy").shape == shape, f"{shape} has another shape")


def test_named(folder):
    cases, sparse_cases = [], []
    for name in NAMED:
        letters, modes = named_levels(name)
        array, path = sparse(1, (11, 6)[:len(modes)]), f"{folder}/{name}.h5"
        write(path, array, letters, modes, name)
        cases.append((name, path, array, "f64", ""))
        sparse_cases.append((f"{name} into a sparse tensor", path, array, "f64", "dcsr" if array.ndim == 2 else "{compressed}"))
    check_copies(cases, 3)
    check_copies(sparse_cases, 2)
    for ranks in (1, 7):
        check_copies([case for case in cases if case[0] == "CSR"], ranks)


def test_custom(folder):
    cases = []
    array = sparse(2, (5, 4, 3), share=0.2)
    orders = ([0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0])
    for number, letters in enumerate(("sss", "dss", "ssd", "sds", "Ss", "sS", "dS", "Sd", "T", "ddd", "sdd", "dds")):
        modes = orders[number % 4]
        write(f"{folder}/{letters}.h5", array, letters, modes)
        cases.append((f"{letters} {modes}", f"{folder}/{letters}.h5", array, "f64", ""))
    check_copies(cases, 3)


def test_types(folder):
    cases = []
    for dtype, element in (("i1", "i32"), ("u1", "i64"), ("u2", "f64"), ("i4", "f64"), ("u4", "i64"), ("i8", "f64"),
                           ("u8", "i64"), ("f4", "f64"), ("f4", "c64"), ("f8", "c128"), ("c8", "c64"), ("c8", "c128"),
                           (">f8", "f64"), (">i4", "i32")):
        array, name = sparse(3, (6, 5), dtype), f"{dtype} into {element}"
        write(f"{folder}/{name}.h5", array, "ds", [0, 1], "CSR",
              kind=str(array.dtype.newbyteorder("=")) if dtype[0] == ">" else None)
        cases.append((name, f"{folder}/{name}.h5", array, element, ""))
    check_copies(cases, 2)
    array = numpy.where(sparse(4, (6, 5)) > 0, 7.0, 0)

    def one_value(arrays, descriptor):
        arrays["values"] = arrays["values"][:1]
        descriptor["data_types"]["values"] = "iso[float64]"

    write(f"{folder}/B.h5", array, "ss", [0, 1], "DCSR", change=one_value)
    check_copies([("iso", f"{folder}/B.h5", array, "f64", "")], 3)


def test_structures(folder):
    cases = []
    for name, dtype, other in (("symmetric", "f8", lambda a: a), ("skew_symmetric", "f8", lambda a: -a),
                               ("symmetric", "c16", lambda a: a), ("hermitian", "c16", numpy.conj)):
        for triangle in (numpy.tril, numpy.triu):
            part = triangle(sparse(5, (6, 6), dtype), -1 if triangle is numpy.tril else 1)
            for letters, kind in (("ds", "CSR"), ("dd", "DMATR")):
                path = f"{folder}/{len(cases)}.h5"
                write(path, part, letters, [0, 1], kind,
                      structure=f"{name}_{'lower' if triangle is numpy.tril else 'upper'}")
                cases.append((f"{name} {dtype} {triangle.__name__} {kind}", path, part + other(part).T,
                              "c128" if dtype == "c16" else "f64", ""))
    check_copies(cases, 2)


def test_rows_without_entries(folder):
    """Coordinates of rows that have no entries, far more of them than entries."""
    path, rows = f"{folder}/B.h5", 50000
    array = numpy.zeros((rows, 5))
    array[0, 1] = array[rows - 1, 2] = 3

    def all_rows(arrays, _):
        arrays["indices_0"] = numpy.arange(rows)
        arrays["pointers_to_1"] = numpy.array([0] + [1] * (rows - 1) + [2])

    write(path, array, "ss", [0, 1], "DCSR", change=all_rows)
    for ranks in (1, 2):
        check_copies([("rows", path, array, "f64", "")], ranks)


def two_numbers(arrays, descriptor):
    """Makes values complex, and gives them a fill value of which only the imaginary part is not zero."""
    arrays["values"] = numpy.repeat(arrays["values"], 2)
    arrays["fill_value"] = numpy.array([0.0, 1.0])


def set_to(key, value):
    return lambda arrays, descriptor: descriptor.__setitem__(key, value)


def element_to(name, index, value):
    return lambda arrays, descriptor: arrays[name].__setitem__(index, value)


def test_wrong(folder):
    path = f"{folder}/B.h5"
    array = sparse(6, (6, 5))
    cases = [
        (set_to("version", "2.0"), "version '2.0' of Binsparse is not known, 0.1 is"),
        (set_to("format", "ELL"), "'ELL' is not a format of Binsparse"),
        (set_to("format", None), "its descriptor has no format"),
        (set_to("format", "CVEC"), "its shape has 2 extents, and its levels have 1 dimensions"),
        (set_to("shape", 5), "its descriptor has no shape of 1 to 12 extents"),
        (set_to("shape", [6, -5]), "extent 1 of its shape is not an integer from 0 to 2^62"),
        (set_to("shape", [7, 5]), "its array 'pointers_to_1' has 7 elements, and not 8"),
        (set_to("structure", "toeplitz"), "'toeplitz' is not a structure of Binsparse"),
        (set_to("structure", "symmetric_lower"), "its structure is symmetric_lower, and it is not a square matrix"),
        (set_to("number_of_stored_values", 1), "values are stored, which are"),
        (set_to("data_types", {}), "its descriptor does not say what type the values have"),
        (set_to("data_types", {"values": "float16"}), "'float16' is not a type of values of Binsparse"),
        (set_to("data_types", {"values": "complex[float64]"}), "its array 'values' has"),
        (set_to("data_types", {"values": "int32"}), "its array 'values' are f64, and its descriptor says that they are int32"),
        (set_to("data_types", {"values": "float32"}), "are f64, and its descriptor says that they are float32"),
        (lambda arrays, _: arrays.pop("values"), "it has no array 'values' of numbers"),
        (lambda arrays, _: arrays.update(values=arrays["values"].reshape(1, -1)), "it has no array 'values' of numbers"),
        (lambda arrays, _: arrays.update(indices_1=arrays["indices_1"].astype("f8")),
         "it has no array 'indices_1' of integers"),
        (lambda arrays, _: arrays.pop("pointers_to_1"), "it has no array 'pointers_to_1' of integers"),
        (element_to("pointers_to_1", 0, 1), "its array 'pointers_to_1' goes from 1 to"),
        (element_to("pointers_to_1", 6, 99), "its array 'pointers_to_1' goes from 0 to 99"),
        (element_to("pointers_to_1", 3, 0), "the elements of its array 'pointers_to_1' decrease"),
        (element_to("indices_1", 0, 5), "entry 0 has coordinate 5 in mode 1, whose extent is 5"),
    ]
    for number, (change, expected) in enumerate(cases):
        write(path, array, "ds", [0, 1], "CSR", change=change)
        refused(path, expected, ranks=[(1, 3)[number % 2]])  # where only some ranks see it is tested below
    levels = [({"level_desc": "hash"}, "'hash' is not a level of Binsparse"), ({}, "a level of its descriptor has no"),
              ({"level_desc": "dense", "rank": 0}, "the ranks of its levels are not integers from 1 on")]
    for level, expected in levels:
        write(path, array, "ds", [0, 1], change=set_to("custom", {"level": level}))
        refused(path, expected)
    for transpose in ([0, 0], [0], [0, 2], ["a", "b"]):
        write(path, array, "ds", [0, 1], change=lambda _, d, t=transpose: d["custom"].update(transpose=t))
        refused(path, "the transpose of its descriptor is not a permutation of the modes")
    write(path, array, "ds", [0, 1], "CSR", fill=True, change=lambda arrays, _: arrays.update(fill_value=numpy.ones(1)))
    refused(path, "elements that it does not store are not zero")
    write(path, array, "ds", [0, 1], "CSR", "complex[float64]", fill=True, change=two_numbers)
    refused(path, "elements that it does not store are not zero", element="c128")
    write(path, array.astype("u8") + (array > 0).astype("u8") * numpy.uint64(1 << 63), "ds", [0, 1], "CSR")
    refused(path, "of its array 'values' does not fit into i64", element="i64")
    write(path, numpy.eye(6), "ds", [0, 1], "CSR", structure="skew_symmetric_lower")
    refused(path, "a skew-symmetric matrix has no entries on its diagonal, and this one has", shape=(6, 6))
    for diagonal, triangle, element in ((1, "lower", "(0, 1)"), (-1, "upper", "(1, 0)")):
        write(path, numpy.eye(6, k=diagonal), "ds", [0, 1], "CSR", structure=f"symmetric_{triangle}")
        refused(path, f"its structure is symmetric_{triangle}, and it has element {element}", shape=(6, 6))
    write(path, numpy.ones((4, 5)), "ds", [0, 1], "CSR", change=element_to("pointers_to_1", slice(1, 4), [5, 12, 3]))
    refused(path, "the elements of its array 'pointers_to_1' decrease", shape=(4, 5))
    write(path, array, "ds", [0, 1], "CSR")
    refused(path, "its shape is (6, 5), that of B is (5, 6)", shape=(5, 6))
    refused(path, "its elements are f64, those of B are f32", element="f32")
    with open(path, "rb") as file:
        content = file.read()
    for length in (0, 5, 700, len(content) // 2):
        with open(path, "wb") as file:
            file.write(content[:length])
        refused(path, "")
    for text, expected in (("{", "its attribute 'binsparse' is not JSON: line 1"), (7, "has no attribute 'binsparse'"),
                           (None, "has no attribute 'binsparse'")):
        with h5py.File(path, "w") as file:
            if text is not None:
                file.attrs["binsparse"] = text
        refused(path, expected)


def refused(path, expected, shape=(6, 5), element="f64", ranks=(1, 3)):
    program = (f"tensor A({shape[0]}, {shape[1]}): {element}; tensor B({shape[0]}, {shape[1]}): {element}, csr;"
               "A(i, j) = B(i, j)")
    for number in ranks:
        done = distal(["run", "-e", program, "-n", str(number), "--in", f"B={path}", "--out", f"A={path}.npy"], status=1)
        words = done.stderr
        check(expected in words and path in words, f"expected '{expected}' on {number}: {done.stderr.strip()}")
        check(not os.path.exists(f"{path}.npy"), "an output was written")


if __name__ == "__main__":
    stay()
    sys.exit(run_cases(functions_named_test("binsparse", globals())))
