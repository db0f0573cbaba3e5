#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Places that cannot be written, disks that are full, compilers that do not work: worked around, or exit status 1 with
one message, nothing half written and nothing lost.

Prints `ok NAME` or `FAIL NAME: why` for each case. A name on the command line runs the cases that contain it."""
import glob
import os
import resource
import signal
import subprocess
import sys
import time

import numpy

from _common import DISTAL, LIMIT_SECONDS, check, functions_named_test, run_cases

# One process, and two; the scalar goes to standard output.
ALONE = "param n = 300; tensor A(n, n): f64; tensor B(n, n): f64; tensor s: f64; A(i, j) = B(j, i); s = B(i, j)"
TWO = ALONE + "; machine M = grid(2); place A(x, y) -> M(x); place B(x, y) -> M(x)"
FULL = "No space left on device"
TOO_LARGE = "File too large"


def distal(arguments, status, message=None, largest_file=None, output=subprocess.PIPE, **environment):
    """Runs the command, which may set the environment (None: unset), and expects its exit status and one message."""
    variables = {**os.environ, **environment}

    def limit():
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    done = subprocess.run([DISTAL, *arguments], stdout=output, stderr=subprocess.PIPE, timeout=LIMIT_SECONDS,
                          check=False, text=True, preexec_fn=limit,
                          env={name: value for name, value in variables.items() if value is not None})
    check(done.returncode == status, f"{arguments} ended with {done.returncode}, expected {status}: {done.stderr}")
    if message is None:
        check("error" not in done.stderr, f"standard error: {done.stderr!r}")
    else:
        errors = [line for line in done.stderr.splitlines() if ": error: " in line and not line.startswith("cc: ")]
        check(message in done.stderr and errors == done.stderr.splitlines()[:1], f"standard error: {done.stderr!r}")
    return done.stdout


def test_standard_output(_):
    for arguments in (["plan", "-e", TWO], ["plan", "-e", TWO, "--stats=json"], ["explain", "-e", TWO],
                      ["emit", "-e", TWO], ["help"], ["help", "split"], ["--version"], ["run", "-e", ALONE],
                      ["run", "-e", TWO], ["run", "-e", TWO, "--stats=json"]):
        with open("/dev/full", "w", encoding="utf-8") as full:
            distal(arguments, 1, f"cannot write to standard output: {FULL}", output=full)


def test_outputs(folder):
    """An output that does not fit leaves what was there before."""
    path = f"{folder}/A.npy"
    distal(["run", "-e", ALONE, "-p", "n=3", "--out", f"A={path}"], 0)
    before = numpy.load(path)
    distal(["run", "-e", ALONE, "--out", f"A={path}"], 1, f"cannot write '{path}': {TOO_LARGE}",
           largest_file=100000)
    check((numpy.load(path) == before).all() and os.listdir(folder) == ["A.npy"], f"{os.listdir(folder)}")


def test_text_outputs(folder):
    """The same on several ranks, of which any may be the one that cannot write."""
    path = f"{folder}/A.mtx"
    program = ("machine M = grid(3); tensor A(1500, 1500): f64; tensor B(1500, 1500): f64; place A(x, y) -> M(PLACE); "
               "place B(x, y) -> M(PLACE); A(i, j) = B(i, j)")
    with open(path, "w", encoding="utf-8") as file:
        file.write("before")
    for place in ("x", "y"):
        distal(["run", "-e", program.replace("PLACE", place), "--out", f"A={path}"], 1,
               f"cannot write '{path}': {TOO_LARGE}", largest_file=32 << 20)
        with open(path, encoding="utf-8") as file:
            check(file.read() == "before" and os.listdir(folder) == ["A.mtx"], f"{os.listdir(folder)}")


def test_emitted(folder):
    path = f"{folder}/kernel.c"
    distal(["emit", "-e", ALONE, "-o", path], 0)
    with open(path, encoding="utf-8") as file:
        before = file.read()
    check("void distal_kernel_1(" in before and os.stat(path).st_mode & 0o777 == 0o666 & ~umask(), "not a file as others")
    distal(["emit", "-e", TWO, "-o", path], 1, TOO_LARGE, largest_file=1000)
    with open(path, encoding="utf-8") as file:
        check(file.read() == before and os.listdir(folder) == ["kernel.c"], f"{os.listdir(folder)}")
    # Through a link, and into a device, which is written itself.
    os.symlink(path, f"{folder}/link.c")
    distal(["emit", "-e", TWO, "-o", f"{folder}/link.c"], 0)
    check(os.path.islink(f"{folder}/link.c") and os.path.getsize(path) != len(before), "the link is gone")
    distal(["emit", "-e", TWO, "-o", "/dev/full"], 1, FULL)
    check("distal_kernel_0" in distal(["emit", "-e", TWO, "-o", "/dev/stdout"], 0), "nothing on standard output")


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_what_is_no_file(folder):
    """Nothing takes the place of a folder or of a device, which root could replace."""
    os.mkdir(f"{folder}/folder.npy")
    os.symlink("/dev/full", f"{folder}/device.npy")
    for name, message in (("folder", "not a regular file"), ("device", "not a regular file"), ("none/A", "No such")):
        distal(["run", "-e", TWO, "--out", f"A={folder}/{name}.npy"], 1, message)
    distal(["emit", "-e", TWO, "-o", folder], 1, "not a regular file")
    distal(["emit", "-e", TWO, "-o", f"{folder}/none/x.c"], 1, "No such file")
    check(not os.path.isfile("/dev/full") and not glob.glob(f"{folder}/*.tmp-*"), "something was written")


def test_cache(folder):
    """Without a cache, kernels are compiled in a temporary folder, of which nothing is left."""
    temporary = f"{folder}/t"
    os.mkdir(temporary)
    file = f"{folder}/file"
    open(file, "w", encoding="utf-8").close()
    for environment in ({"XDG_CACHE_HOME": file}, {"XDG_CACHE_HOME": None, "HOME": None},
                        {"XDG_CACHE_HOME": "", "HOME": file}, {"XDG_CACHE_HOME": "/proc"}):
        for program in (ALONE, TWO):
            check("s = " in distal(["run", "-e", program], 0, TMPDIR=temporary, **environment), "no result")
            check(not glob.glob(f"{temporary}/distal-*"), f"left behind: {os.listdir(temporary)}")


def test_full_cache(folder):
    """A kernel does not fit into the cache, nor into the temporary folder: one message about the place."""
    cache = f"{folder}/cache"
    distal(["run", "-e", ALONE], 1, f"cannot write a kernel into '{folder}/distal-", largest_file=12000,
           XDG_CACHE_HOME=cache, TMPDIR=folder)
    check(not glob.glob(f"{cache}/distal/*/*.so*") and not glob.glob(f"{folder}/distal-*"), "something is left")


def test_cache_that_goes_away(folder):
    """The cache stops taking files while the compiler runs: the kernel is compiled once more, elsewhere."""
    cache, compiler = f"{folder}/cache", f"{folder}/cc"
    write_script(compiler, f'case "$*" in *{cache}*) rm -r "{cache}"; touch "{cache}"; exit 1;; esac\nexec cc "$@"\n')
    for program in (ALONE, TWO):
        output = distal(["run", "-e", program], 0, XDG_CACHE_HOME=cache, TMPDIR=folder, DISTAL_CC=compiler)
        check("s = " in output and os.path.isfile(cache), "no result")
        os.remove(cache)


def write_script(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)


def test_temporary_folder(folder):
    """MPI would not start with such a folder."""
    for place in (f"{folder}/none", "/proc"):
        for program in (ALONE, TWO):
            check("s = " in distal(["run", "-e", program], 0, TMPDIR=place), f"no result with TMPDIR={place}")


def test_compilers(folder):
    """Of the compiler that the user names: it is missing, fails, makes nothing, makes something else."""
    killed, silent, other = f"{folder}/killed", f"{folder}/silent", f"{folder}/other"
    write_script(killed, "kill -9 $$\n")
    write_script(silent, "exit 0\n")
    write_script(other, 'while [ "$1" != -o ]; do shift; done\necho nonsense > "$2"\n')
    for compiler, message in ((f"{folder}/none", "cannot start the C compiler"), ("false", "failed with status 1"),
                              (killed, "was ended by signal 9"), (silent, f"cannot load the kernel: the C compiler '{silent}' succeeded without making a file"),
                              (other, "cannot load the kernel '")):
        for program in (ALONE, TWO):
            distal(["run", "-e", program, "--out", f"A={folder}/A.npy"], 1, message, DISTAL_CC=compiler,
                   XDG_CACHE_HOME=f"{folder}/cache")
    check(not glob.glob(f"{folder}/A.npy*") and not glob.glob(f"{folder}/cache/distal/*/*.so*"), "something is left")
    distal(["run", "-e", ALONE], 1, "failed with status", DISTAL_CFLAGS="-nonsense", XDG_CACHE_HOME=f"{folder}/cache")


def test_distrusted_cache(folder):
    """A cache that others can write to is not used, with a warning; -q leaves that out."""
    cache, temporary = f"{folder}/cache", f"{folder}/t"
    os.makedirs(f"{cache}/distal")
    os.mkdir(temporary)
    os.chmod(f"{cache}/distal", 0o777)
    for program in (ALONE, TWO):
        for quiet in ([], ["-q"]):
            done = subprocess.run([DISTAL, "run", "-e", program, *quiet], capture_output=True, text=True, check=False,
                                  timeout=LIMIT_SECONDS, env={**os.environ, "XDG_CACHE_HOME": cache, "TMPDIR": temporary})
            warning = f"distal: warning: the cache of kernels is not used: '{cache}/distal' can be written to by others"
            check(done.returncode == 0 and "s = " in done.stdout, done.stderr)
            check(done.stderr.count("\n") == 1 and done.stderr.startswith(warning) if not quiet else done.stderr == "",
                  f"standard error: {done.stderr!r}")
            check(os.listdir(f"{cache}/distal") == [], "the cache was used")
            check(not glob.glob(f"{temporary}/distal-*"), "something is left")


def test_noexec(folder):
    """A cache on a file system from which nothing can be executed: kernels are compiled elsewhere, where that is
    possible. It takes a mount, in a namespace of our own."""
    mounted = f"{folder}/noexec"
    os.mkdir(mounted)

    def within(command):
        mount = f'mount -t tmpfs -o noexec none "{mounted}" && {command}'
        return subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh", DISTAL,
                               "run", "-e", ALONE], capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)

    if within("true").returncode != 0:
        print("    mounts are not permitted here", flush=True)
        return
    done = within(f'env XDG_CACHE_HOME="{mounted}" TMPDIR="{mounted}" "$@" && ls -A "{mounted}"/distal-* 2>&1')
    check("s = " in done.stdout and "No such file" in done.stdout and "error" not in done.stderr, f"{done}")
    if os.path.abspath(DISTAL).startswith("/tmp/"):
        return  # the next mount would hide the command
    done = within(f'mount -t tmpfs -o noexec none /tmp && env XDG_CACHE_HOME="{mounted}" TMPDIR=/tmp "$@"')
    check(done.returncode == 1 and "cannot load a kernel from '/tmp', which is mounted with noexec" in done.stderr
          and done.stderr.count("\n") == 1, f"{done}")


def test_compiler_that_hangs(folder):
    """It is killed when its time is up, and when the command is."""
    hanging, number = f"{folder}/hanging", f"{folder}/number"
    write_script(hanging, f"sleep 1000 &\necho $! > {number}.new; mv {number}.new {number}\nwait\n")
    environment = {"DISTAL_CC": hanging, "XDG_CACHE_HOME": f"{folder}/cache"}
    for program in (ALONE, TWO):
        distal(["run", "-e", program], 1, "the C compiler has not ended within 1 seconds and was killed",
               DISTAL_CC_TIMEOUT="1", **environment)
        check(has_ended(number), "the compiler is still running")
        for kind in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            process = subprocess.Popen([DISTAL, "run", "-e", program], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, env={**os.environ, **environment})
            while not os.path.exists(number):
                check(process.poll() is None, "it has ended without the compiler")
                time.sleep(0.01)
            process.send_signal(kind)
            check(process.wait(LIMIT_SECONDS) == -kind, f"exit status {process.returncode}")
            check(has_ended(number), f"the compiler is still running after {kind.name}")
    distal(["run", "-e", ALONE], 1, "DISTAL_CC_TIMEOUT is 'soon', which is not a number of seconds",
           DISTAL_CC_TIMEOUT="soon", **environment)


def has_ended(number):
    """Whether the process whose number is in a file ends within seconds. Removes the file."""
    with open(number, encoding="ascii") as file:
        process = int(file.read())
    os.remove(number)
    for _ in range(1000):
        try:
            with open(f"/proc/{process}/stat", encoding="ascii") as file:
                state = file.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def test_small_address_space(folder):
    """Where OpenBLAS would look for memory without end, the run is refused; where it has enough, it is not."""
    if os.environ.get("DISTAL_SANITIZE"):
        return  # the shadow memory of AddressSanitizer does not fit into any limit
    product = ("param n = 300; tensor A(n, n): f64; tensor B(n, n): f64; tensor s: f64; tensor C(n, n): f64; "
               "A(i, j) = B(i, k) * C(k, j); s = A(i, j)")
    messages = ("that the threads of the BLAS take; raise the limits of the process (ulimit -v, ulimit -d)",
                "memory", "cannot load the kernel", "cannot start", "libgomp: Thread creation failed",
                "OpenBLAS: malloc failed")
    # Threads of the library start before main, or get their memory before.
    with_buffer = "with threads of OpenMP" in subprocess.run(
        [DISTAL, "run", "-e", "tensor a: f64; a = 3", "--stats"], capture_output=True, text=True, check=True).stderr
    for megabytes in (80, 150, 300):
        for arguments in (["--version"], ["run", "-e", "tensor a: f64; a = 3"]):
            done = subprocess.run(["sh", "-c", f'ulimit -v {megabytes}000; exec "$@"', "sh", DISTAL, *arguments],
                                  capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS)
            if with_buffer and megabytes < 300:
                check(done.returncode == 1 and done.stderr.startswith("distal: error: the BLAS needs more memory when"),
                      f"{megabytes} MB: {done}")
                continue
            check(done.returncode == 0 and ("distal " in done.stdout or done.stdout == "a = 3\n"), f"{megabytes} MB: {done}")

    def is_refused_by_blas(kilobytes, threads):
        done = subprocess.run(["sh", "-c", f'ulimit -v {kilobytes}; exec "$@"', "sh", DISTAL, "run", "-e", product,
                               "--threads", threads, "--check"], capture_output=True, text=True, check=False,
                              timeout=LIMIT_SECONDS)
        if done.returncode == 0:
            check("s = " in done.stdout and kilobytes > 250000, f"{done}")
        else:
            check(done.returncode == 1 and any(text in done.stderr for text in messages), f"{kilobytes} kB: {done}")
            check(kilobytes < 3000000, f"{done}")
        return messages[0] in done.stderr

    # Also next to the least limit that is not refused, which depends on what else the process has.
    for threads in ("1", "2"):
        check(is_refused_by_blas(250000, threads), "nothing was refused for want of memory of the BLAS")
        low, high = 250000, 3000000
        while high - low > 500:
            middle = (low + high) // 2
            low, high = (middle, high) if is_refused_by_blas(middle, threads) else (low, middle)


def test_launchers(folder):
    """Of the launcher that the user names: it is missing, fails, starts another number of processes."""
    failing, other = f"{folder}/failing", f"{folder}/other"
    write_script(failing, "exit 3\n")
    write_script(other, 'shift 2\nexec mpirun -n 1 "$@"\n')
    missing = f"cannot start '{folder}/none', the launcher that DISTAL_MPIRUN names: No such file"
    for launcher, message in ((f"{folder}/none", missing),
                              (failing, f"the run failed: '{failing}' ended with status 3\n"
                               f"distal: note: the processes were started with: {failing} -n 2 {DISTAL} run -n"),
                              (other, "--ranks 2, but the launcher has started 1 process\n")):
        distal(["run", "-n", "2", "-e", TWO], 2 if launcher == other else 1, message, DISTAL_MPIRUN=launcher)


def test_program_file(folder):
    binary = f"{folder}/binary.distal"
    with open(binary, "wb") as file:
        file.write(b"tensor A(4): f64\n\0")
    for path, message in ((binary, "it contains a byte that is 0"), (f"{folder}/none.distal", "No such file"),
                          (folder, "Is a directory")):
        distal(["check", path], 2, message)
    many = f"{folder}/many.distal"
    for line, message in (("a = 1\n", "a program has at most 4096 statements"),
                          ("param p{} = 1\n", "a program has at most 4096 declarations")):
        with open(many, "w", encoding="utf-8") as file:
            file.write("tensor a: f64\n" + "".join(line.format(i) for i in range(5000)))
        distal(["check", many], 2, message)


def main():
    return run_cases(functions_named_test("bad_places", globals()))


if __name__ == "__main__":
    sys.exit(main())
