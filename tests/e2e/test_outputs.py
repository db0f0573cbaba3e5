#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Output files: links and modes are kept, no other file is overwritten, and a run that is interrupted leaves nothing
behind. Results where a standard stream is closed; what is printed of names and numbers.

Prints `ok NAME` or `FAIL NAME: why` for each case. A name on the command line runs the cases that contain it."""
import json
import os
import re
import signal
import stat
import subprocess
import sys

import numpy

from _common import DISTAL, LIMIT_SECONDS, check, distal, functions_named_test, preloaded, ranks_of_run, run_cases, wait_for

ONES = "machine M = grid(2); tensor A(4): f64; place A(x) -> M(x); A(i) = 1"
ALONE = "tensor A(4): f64; A(i) = 1"
DRAFT = re.compile(r"distal-[0-9a-f]{32}\.tmp")


def run(program, path):
    distal(["run", "-e", program, "--out", f"A={path}", "-q"])


def emit(program, path):
    distal(["emit", "-e", program, "-o", path])


# The ways in which the command writes a file: (name, function).
WRITERS = [("run on 2", lambda path: run(ONES, path)), ("run on 1", lambda path: run(ALONE, path)),
           ("emit", lambda path: emit(ALONE, path))]


def files(folder):
    return sorted(os.listdir(folder))


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def written(path):
    with open(path, "rb") as file:
        return file.read(1) != b""


def test_modes(folder):
    """A replaced file keeps its mode; a new one has that of the umask."""
    path = f"{folder}/A.npy"
    old = os.umask(0o027)
    try:
        for name, write in WRITERS:
            write(path)
            check(mode(path) == 0o640, f"{name}: a new file has mode {mode(path):o}")
            for kept in (0o600, 0o644, 0o755):
                with open(path, "wb"):
                    os.chmod(path, kept)
                write(path)
                check(mode(path) == kept and written(path), f"{name}: mode {kept:o} became {mode(path):o}")
            os.unlink(path)
    finally:
        os.umask(old)


def test_owners(folder):
    if os.getuid() != 0:
        return
    path = f"{folder}/A.npy"
    for name, write in WRITERS:
        with open(path, "wb"):
            os.chown(path, 1, 2)
        write(path)
        status = os.stat(path)
        check((status.st_uid, status.st_gid) == (1, 2), f"{name}: now of {status.st_uid}:{status.st_gid}")


def test_links_stay_links(folder):
    """Absolute and relative links, a link to a link, and one to a file that is not there yet."""
    os.mkdir(f"{folder}/data")
    os.symlink(f"{folder}/data/file.npy", f"{folder}/absolute.npy")
    os.symlink("data/file.npy", f"{folder}/relative.npy")
    os.symlink("relative.npy", f"{folder}/chain.npy")
    for name, write in WRITERS:
        for link in ("absolute", "relative", "chain"):
            for is_there in (False, True):
                if is_there:
                    with open(f"{folder}/data/file.npy", "wb"):
                        pass
                write(f"{folder}/{link}.npy")
                check(os.path.islink(f"{folder}/{link}.npy"), f"{name}: {link} is no link any more")
                check(written(f"{folder}/data/file.npy"), f"{name}: the file behind {link} was not written")
                check(files(folder) == ["absolute.npy", "chain.npy", "data", "relative.npy"], f"{files(folder)}")
                check(files(f"{folder}/data") == ["file.npy"], f"{files(f'{folder}/data')}")
                os.unlink(f"{folder}/data/file.npy")


def test_two_outputs_of_one_file(folder):
    """By a link, a path with dots and a link to the folder, also before there is such a file."""
    os.symlink(folder, f"{folder}/here")
    os.symlink("here/A.npy", f"{folder}/B.npy")
    program = "tensor A(4): f64; tensor B(4): f64; A(i) = 1; B(i) = 2"
    for other in ("B.npy", "here/A.npy", "././A.npy"):
        done = distal(["run", "-e", program, "--out", f"A={folder}/A.npy", "--out", f"B={folder}/{other}"], status=2)
        check("'A' is already written to this file" in done.stderr, f"{other}: {done.stderr!r}")
    for other in ("//run/A", "/run/./A", "/run/A/", "/./run//A/B"):
        done = distal(["run", "-e", program, "--out", f"A={folder}/A.h5:/run/A", "--out", f"B={folder}/A.h5:{other}"], status=2)
        check("'A' is already written to this file" in done.stderr, f"{other}: {done.stderr!r}")
    distal(["run", "-e", program, "--out", f"A={folder}/A.npy", "--out", f"B={folder}/C.npy", "-q"])
    check((numpy.load(f"{folder}/A.npy") == 1).all() and (numpy.load(f"{folder}/C.npy") == 2).all(), "wrong files")


def test_no_file_is_in_the_way(folder):
    """Links to a file of the user, under names that drafts had when they were made of process ids."""
    with open(f"{folder}/precious", "w", encoding="utf-8") as file:
        file.write("precious")
    for process in range(os.getpid(), os.getpid() + 3000):
        os.symlink(f"{folder}/precious", f"{folder}/A.npy.tmp-{process}")
    for name, write in WRITERS:
        write(f"{folder}/A.npy")
        with open(f"{folder}/precious", encoding="utf-8") as file:
            check(file.read() == "precious", f"{name}: it was overwritten")


def test_what_cannot_be_written(folder):
    os.mkdir(f"{folder}/folder.npy")
    os.mkfifo(f"{folder}/fifo.npy")
    os.symlink("loop.npy", f"{folder}/loop.npy")
    open(f"{folder}/file", "wb").close()
    before = files(folder)
    for name, why in [("folder.npy", "not a regular file"), ("fifo.npy", "not a regular file"),
                      ("loop.npy", "Too many levels"), ("none/A.npy", "No such file"),
                      ("file/A.npy", "Not a directory"), (f"{'a' * 300}.npy", "File name too long")]:
        for program in (ONES, ALONE):
            done = distal(["run", "-e", program, "--out", f"A={folder}/{name}"], status=1)
            check(why in done.stderr and done.stderr.count("\n") == 1, f"{name}: {done.stderr!r}")
            check(f"cannot write '{folder}/{name}'" in done.stderr, f"the path: {done.stderr!r}")
        if name != "fifo.npy":
            done = distal(["emit", "-e", ALONE, "-o", f"{folder}/{name}"], status=1)
            check(why in done.stderr, f"{name}: {done.stderr!r}")
    check(files(folder) == before, f"{files(folder)} are there, {before} were")


def test_long_names(folder):
    name = f"{'a' * 251}.npy"
    for _, write in WRITERS:
        write(f"{folder}/{name}")
        check(files(folder) == [name], f"{files(folder)}")


def test_streams(folder):
    """A pipe is written itself."""
    done = distal(["emit", "-e", ALONE, "-o", "/dev/stdout"])
    check(done.stdout == distal(["emit", "-e", ALONE]).stdout, "not what is printed")
    distal(["emit", "-e", ALONE, "-o", "/dev/null"])
    done = distal(["emit", "-e", ALONE, "-o", "/dev/full"], status=1)
    check("cannot write '/dev/full': No space left" in done.stderr, f"{done.stderr!r}")
    check(stat.S_ISCHR(os.stat("/dev/null").st_mode), "/dev/null was replaced")
    check(files(folder) == [], f"{files(folder)}")


def large_run(folder, ranks, launcher, environment):
    """A run whose writing takes long enough to interrupt it: many single elements, or, on one rank, 800 MB."""
    extent, place = ("2000", "cyclic(y, 1)") if ranks > 1 else ("10000", "y")
    program = (f"machine M = grid({ranks}); tensor A({extent}, {extent}): f64; place A(x, y) -> M({place}); "
               "A(i, j) = 1")
    environment = {**os.environ, **environment, "DISTAL_TEST": folder, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    return subprocess.Popen([*launcher, DISTAL, "run", "-e", program, "--out", f"A={folder}/A.npy"], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, start_new_session=True)


def is_writing(folder, process, named):
    """Whether there is a draft: by its name, or, while it has none, by a descriptor of the process or a rank."""
    if named:
        return any(DRAFT.fullmatch(name) for name in files(folder))
    for writer in (process, *ranks_of_run(folder).values()):
        try:
            links = [os.readlink(f"/proc/{writer}/fd/{fd}") for fd in os.listdir(f"/proc/{writer}/fd")]
        except OSError:
            continue
        if any(link.startswith(f"{folder}/") and link.endswith(" (deleted)") for link in links):
            return True
    return False


def interrupt(folder, ranks, end, launcher=(), named=False):
    process = large_run(folder, ranks, launcher, preloaded("no_unnamed_files") if named else {})
    check(wait_for(lambda: is_writing(folder, process.pid, named), 60), "it never wrote")
    end(process)
    _, message = process.communicate(timeout=LIMIT_SECONDS)
    check(process.returncode != 0, "it was complete before it was interrupted")
    check(wait_for(lambda: not ranks_of_run(folder), 10), "ranks are left behind")
    check(wait_for(lambda: files(folder) == [], 5), f"left behind: {files(folder)} ({message!r})")


def kill_ranks(folder):
    for process in ranks_of_run(folder).values():
        os.kill(process, signal.SIGKILL)


def test_interrupted(folder):
    """Signals from a terminal or a batch system while 2 ranks write, or one."""
    for kind in (signal.SIGINT, signal.SIGTERM):
        interrupt(folder, 2, lambda process, kind=kind: process.send_signal(kind), named=True)
        interrupt(folder, 1, lambda process, kind=kind: process.send_signal(kind), named=True)
    interrupt(folder, 2, lambda process: process.send_signal(signal.SIGTERM))


def test_killed(folder):
    """A rank, the command, the command with its process group, and a process that is alone."""
    for rank in (0, 1):
        interrupt(folder, 2, lambda _, rank=rank: os.kill(ranks_of_run(folder)[rank], signal.SIGKILL), named=True)
    for named in (False, True):
        interrupt(folder, 2, lambda process: process.kill(), named=named)
        interrupt(folder, 2, lambda process: os.killpg(process.pid, signal.SIGKILL), named=named)
    interrupt(folder, 1, lambda process: process.kill())


def test_interrupted_under_another_launcher(folder):
    """No process of distal outlives the ranks there: a draft without a name is gone with them, and rank 0 removes one
    that has a name when it gets a signal."""
    launcher = [*os.environ.get("DISTAL_MPIRUN", "mpirun").split(), "-n", "2"]
    interrupt(folder, 2, lambda _: kill_ranks(folder), launcher)
    for kind in (signal.SIGINT, signal.SIGTERM):
        interrupt(folder, 2, lambda _, kind=kind: os.kill(ranks_of_run(folder)[0], kind), launcher, named=True)


def test_files_with_names(folder):
    """The same files where the file system has no unnamed ones."""
    for extent, ranks in ((7, 3), (7, 1)):
        program = f"machine M = grid({ranks}); tensor A({extent}): f64; place A(x) -> M(x); A(i) = 1"
        distal(["run", "-e", program, "--out", f"A={folder}/A.npy", "-q"], environment=preloaded("no_unnamed_files"))
        check((numpy.load(f"{folder}/A.npy") == numpy.ones(extent)).all(), "a wrong file")
        check(files(folder) == ["A.npy"], f"{files(folder)}")
        os.unlink(f"{folder}/A.npy")


# Large enough for several rounds of text on 1 and on 2 ranks: (name of the file, levels of the tensor, input).
SAME_FILES = [("dense.npy", "", "B"), ("dense.mtx", "", "B"), ("dense.tns", "", "B"), ("rows.mtx", ", csr", "B"),
              ("rows.npy", ", csr", "B"), ("columns.mtx", ", csc", "C"), ("columns.tns", ", csc", "C"),
              ("columns.npy", ", csc", "C"), ("fibers.mtx", ", {compressed, dense}", "F")]
SAME_SHAPE = (523, 701)


def same_files(folder, ranks, place, environment=None):
    """Writes one tensor in several formats from one placement; the files by name."""
    tensors = {"B": ", csr", "C": ", csc", "F": ", {compressed, dense}",
               **{f"A{k}": levels for k, (_, levels, _) in enumerate(SAME_FILES)}}
    program = f"machine M = grid({ranks}); "
    program += "".join(f"tensor {name}{SAME_SHAPE}: f64{levels}; place {name}(x, y) -> M({place}); "
                       for name, levels in tensors.items())
    program += "; ".join(f"A{k}(i, j) = {operand}(i, j)" for k, (_, _, operand) in enumerate(SAME_FILES))
    outputs = [word for k, (name, _, _) in enumerate(SAME_FILES) for word in ("--out", f"A{k}={folder}/{name}")]
    distal(["run", "-e", program, "--in", "B=random:1:0.9", "--in", "C=random:1:0.9", "--in", "F=random:1:0.1",
            *outputs, "-q"],
           environment=environment)
    found = {}
    for name, _, _ in SAME_FILES:
        with open(f"{folder}/{name}", "rb") as file:
            found[name] = file.read()
    check(files(folder) == sorted(name for name, _, _ in SAME_FILES), f"{files(folder)}")
    return found


def listed(folder, name, lines_before):
    """A matrix of the entries that a text lists, and whether they are in increasing order of rows, or columns."""
    rows, columns, values = numpy.loadtxt(f"{folder}/{name}", skiprows=lines_before, unpack=True)
    matrix = numpy.zeros(SAME_SHAPE)
    matrix[rows.astype(int) - 1, columns.astype(int) - 1] = values
    return matrix, (numpy.diff(rows * 10000 + columns) > 0).all(), (numpy.diff(columns * 10000 + rows) > 0).all()


def test_same_bytes(folder):
    """For any number of ranks and any placement a file has the same bytes: text in the order in which a sparse tensor is
    stored, or of the columns of a dense one."""
    expected = same_files(folder, 1, "x")
    matrix = numpy.load(f"{folder}/dense.npy")
    check(expected["rows.npy"] == expected["dense.npy"] and expected["columns.npy"] == expected["dense.npy"], "values")
    values = numpy.loadtxt(f"{folder}/dense.mtx", skiprows=2)
    check((values.reshape(SAME_SHAPE, order="F") == matrix).all(), "dense.mtx")
    for name, lines_before, by_rows in (("dense.tns", 0, False), ("rows.mtx", 2, True), ("columns.mtx", 2, False),
                                        ("columns.tns", 0, False)):
        found, increasing_rows, increasing_columns = listed(folder, name, lines_before)
        check((found == matrix).all() and (increasing_rows if by_rows else increasing_columns), name)
    for ranks, place in ((2, "x"), (2, "y"), (2, "1"), (2, "*"), (2, "cyclic(x, 2)"), (3, "y"), (7, "cyclic(y, 1)"), (12, "x")):
        for name, found in same_files(folder, ranks, place).items():
            check(found == expected[name], f"{name} of {ranks} ranks, placed at {place}, differs")
    for name, found in same_files(folder, 3, "y", preloaded("no_unnamed_files")).items():
        check(found == expected[name], f"{name} differs where drafts have names")


def largest_process(arguments):
    """The most memory, in bytes, that one process of a run had, as another process sees those that it has started."""
    program = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = subprocess.run([sys.executable, "-c", program, DISTAL, *arguments, "-q"], capture_output=True, text=True,
                          timeout=LIMIT_SECONDS, check=True)
    return 1024 * int(done.stdout.split()[-1])


def test_memory(folder):
    """No rank has the whole of a result, 100 MB, when it is written."""
    program = ("machine M = grid(4); tensor A(2500, 5000): i64LEVELS; tensor B(2500, 5000): i64LEVELS; "
               "place A(x, y) -> M(x); place B(x, y) -> M(x); A(i, j) = B(i, j)")
    for levels, source, name in (("", "ones", "A.mtx"), (", csr", "random:1:0.5", "A.mtx"), (", csr", "random:1:0.01", "A.npy")):
        arguments = ["run", "-e", program.replace("LEVELS", levels), "--in", f"B={source}"]
        distal([*arguments, "-q"])  # compiles
        before = largest_process(arguments)
        after = largest_process([*arguments, "--out", f"A={folder}/{name}"])
        check(after - before < 64e6, f"{name} of a tensor{levels or ' that is dense'}: {before} bytes, then {after}")


def test_too_many_elements(folder):
    """A sparse tensor whose elements do not fit into a file with an array."""
    program = "param n = 3037000500; tensor A(n, n): f64, coo; tensor B(n, n): f64, coo; A(i, j) = B(i, j)"
    with open(f"{folder}/B.tns", "w", encoding="utf-8") as file:
        file.write("1 2 3\n")
    done = distal(["run", "-e", program, "--in", f"B={folder}/B.tns", "--out", f"A={folder}/A.npy"], status=1)
    check(f"cannot write '{folder}/A.npy': all its elements, zeros among them, take more than 2^63 bytes" in done.stderr,
          f"{done.stderr!r}")
    check(files(folder) == ["B.tns"], f"{files(folder)}")


def closed(arguments, streams):
    """Runs the command with standard streams closed; its exit status."""
    redirections = " ".join({0: "<&-", 1: ">&-", 2: "2>&-"}[stream] for stream in streams)
    return subprocess.run(["sh", "-c", f'exec "$0" "$@" {redirections}', DISTAL, *arguments], capture_output=True,
                          timeout=LIMIT_SECONDS, check=False, text=True)


def test_closed_streams(folder):
    """A result that cannot be printed is an error; what does not need the stream works."""
    scalar = "machine M = grid(GRID); tensor a: f64; tensor x(4): f64; place x(i) -> M(i); a = x(i) * x(i)"
    for arguments in (["plan", "-e", ALONE], ["explain", "-e", ALONE], ["emit", "-e", ALONE], ["help"], ["--version"],
                      ["run", "-e", scalar.replace("GRID", "1")], ["run", "-e", scalar.replace("GRID", "2")]):
        for streams in ((1,), (0, 1)):
            done = closed(arguments, streams)
            check(done.returncode == 1 and "cannot write to standard output" in done.stderr,
                  f"{arguments} without {streams}: {done.returncode}, {done.stderr!r}")
    for program in (ONES, ALONE):
        path = f"{folder}/A.npy"
        done = closed(["run", "-e", program, "--out", f"A={path}"], (0, 1, 2))
        check(done.returncode == 0 and (numpy.load(path) == 1).all(), f"exit status {done.returncode}")
        os.unlink(path)
    done = closed(["check", "-"], (0,))
    check(done.returncode == 2 and "cannot read '<stdin>'" in done.stderr, f"{done.returncode}, {done.stderr!r}")
    done = closed(["check", "-e", "wrong"], (2,))
    check(done.returncode == 2, f"exit status {done.returncode}")


def test_json_is_utf8(folder):
    """Whatever the name of the program."""
    path = os.path.join(os.fsencode(folder), b'a\x1b\xff"\xc2\x9b\\\xe2\x82\xac.distal')
    with open(path, "w", encoding="utf-8") as file:
        file.write(ALONE)
    done = subprocess.run([DISTAL, "plan", path, "--stats=json"], capture_output=True, timeout=LIMIT_SECONDS, check=False)
    name = json.loads(done.stdout.decode("utf-8", "strict"))["program"]
    check(name.endswith('/a\x1b\ufffd"\x9b\\\u20ac.distal'), f"{name!r}")
    check(b"\x1b" not in done.stdout and b"\xc2\x9b" not in done.stdout, f"{done.stdout!r}")
    done = subprocess.run([DISTAL, "plan", path], capture_output=True, timeout=LIMIT_SECONDS, check=False)
    check(b'a\\x1b\\xff"\\u009b\\\xe2\x82\xac.distal on 1 rank' in done.stdout, f"{done.stdout!r}")


def test_not_a_number(folder):
    """Without a sign, whatever the machine gives."""
    for element_type, expected in [("f64", "a = nan\n"), ("f32", "a = nan\n"), ("c128", "a = nan+nani\n")]:
        program = f"tensor a: {element_type}; tensor x: {element_type}; a = (x - x) / (x - x)"
        for source in ("const:1", "const:-1"):
            done = distal(["run", "-e", program, "--in", f"x={source}"])
            check(done.stdout == expected, f"{element_type}: {done.stdout!r}")
    done = distal(["run", "-e", "tensor a: c64; tensor x: c64; a = -x", "--in", "x=const:2"])
    check(done.stdout == "a = -2-0i\n", f"{done.stdout!r}")


def main():
    return run_cases(functions_named_test("outputs", globals()))


if __name__ == "__main__":
    sys.exit(main())
