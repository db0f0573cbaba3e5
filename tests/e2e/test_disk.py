#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tensors in disk: results, memory, what is read and written, failures of the disk, and what remains of them.

Prints `ok NAME` or `FAIL NAME: why` for each case. A name on the command line runs the cases that contain it."""
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy
from _common import DISTAL, SOURCE, check, distal, functions_named_test, preloaded, run_cases, wait_for

# The tensors of a matrix product in disk, on `p` ranks by rows, in tiles.
PRODUCT = """
param n = 64, p = 2, t = 16
machine M = grid(p)
tensor A(n, n): f64
tensor B(n, n): f64
tensor C(n, n): f64
place A(x, y) -> M(x) in disk
place B(x, y) -> M(x) in disk
place C(x, y) -> M(x) in disk
A(i, j) = B(i, k) * C(k, j)
schedule A {
  distribute(i, io, ii, M)
  split(ii, it, iii, t)
  split(j, jo, ji, t)
  split(k, ko, ki, t)
  reorder({it, jo, ko, iii, ji, ki})
  communicate(A, jo)
  communicate({B, C}, ko)
}
"""


def run(text, *options, status=0, environment=None):
    return distal(["run", "-e", text, "-q", *options], status=status, environment=environment)


def figures(text, *options, command="run"):
    done = distal([command, "-e", text, *(["-q"] if command == "run" else []), "--stats=json", *options])
    return json.loads(done.stdout)["statements"]


def test_within_limit(folder):
    """Tensors of four times the limit of memory."""
    n = 256
    whole = 3 * 8 * n * n
    for ranks in (1, 2, 3, 4):
        options = ["-p", f"n={n}", "-p", f"p={ranks}", "-p", "t=16", "--ranks", str(ranks)]
        (statement,) = figures(PRODUCT, *options, "--memory-limit", str(whole // ranks // 4), "--scratch", folder)
        check(max(statement["peak_bytes"]) <= whole // ranks // 4, statement["peak_bytes"])
        run(PRODUCT, *options, "--check", "--scratch", folder)
        for name, tensor in statement["tensors"].items():
            check(sum(tensor["home_bytes"]) == 8 * n * n, name)
    check(not os.listdir(folder), os.listdir(folder))


def test_plan_of_large_tensors(folder):
    """Ten times the memory of the machine, without data."""
    del folder
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    n = 4096
    while 3 * 8 * n * n < 10 * memory:
        n *= 2
    (statement,) = figures(PRODUCT, "-p", f"n={n}", "-p", f"t={n // 16}", command="plan")
    check(max(statement["peak_bytes"]) < memory, statement["peak_bytes"])
    tensors = statement["tensors"]
    check(sum(tensors["A"]["bytes_written"]) == 8 * n * n, tensors["A"])
    check(sum(tensors["B"]["bytes_read"]) == 16 * 8 * n * n, tensors["B"])


def test_files(folder):
    """Inputs and outputs are files, or generated, and are not in memory as a whole."""
    n = 300
    values = numpy.random.default_rng(1).random((n, n))
    numpy.save(f"{folder}/B.npy", values)
    numpy.save(f"{folder}/I.npy", numpy.eye(n))
    run(PRODUCT, "-p", f"n={n}", "--in", f"B={folder}/B.npy", "--in", f"C={folder}/I.npy", "--out", f"A={folder}/A.npy", "--out",
        f"C={folder}/C.npy", "--scratch", folder)
    check(numpy.array_equal(numpy.load(f"{folder}/A.npy"), values), "A is not B")
    check(numpy.array_equal(numpy.load(f"{folder}/C.npy"), numpy.eye(n)), "C is not the identity")
    run(PRODUCT, "-p", "n=30", "--in", "B=iota", "--in", "C=ones", "--out", f"A={folder}/A.tns")
    check(len(open(f"{folder}/A.tns", encoding="utf-8").readlines()) >= 899, "A.tns")
    check(sorted(os.listdir(folder)) == ["A.npy", "A.tns", "B.npy", "C.npy", "I.npy"], os.listdir(folder))


def test_repeated(folder):
    """Results that add to what is there, several times."""
    text = PRODUCT.replace("A(i, j) =", "A(i, j) +=")
    for extra in ([], ["--repeat", "3", "--warmup", "1"]):
        run(text, "--check", "--scratch", folder, "--in", "A=iota", *extra)
    (once,) = figures(text)
    check(once["tensors"]["A"]["bytes_read"] == once["tensors"]["A"]["bytes_written"], once["tensors"]["A"])


def counted_by_system(folder, options, repeat):
    """Bytes that all ranks have read and written, as the system says."""
    counts = f"{folder}/counts"
    os.makedirs(counts, exist_ok=True)
    environment = {**preloaded("process_io"), "IO_FOLDER": counts}
    run(PRODUCT, *options, "--scratch", folder, "--repeat", str(repeat), environment=environment)
    totals = {"rchar": 0, "wchar": 0}
    for name in os.listdir(counts):
        with open(f"{counts}/{name}", encoding="utf-8") as file:
            for key, value in (line.split(": ") for line in file):
                totals[key] = totals.get(key, 0) + int(value)
    shutil.rmtree(counts)
    return totals["rchar"], totals["wchar"]


def test_counted_by_system(folder):
    """What the system counts for four more executions is what is planned for them, and next to nothing else."""
    others = 64 << 10  # messages between processes of the MPI library, by sockets and pipes
    for ranks, pipeline in itertools.product((2, 3), ("off", "on")):
        options = ["-p", "n=256", "-p", "t=64", "-p", f"p={ranks}", "--ranks", str(ranks), "--pipeline", pipeline]
        tensors = figures(PRODUCT, *options, command="plan")[0]["tensors"].values()
        counted_by_system(folder, options, 1)
        once, more = (counted_by_system(folder, options, repeat) for repeat in (1, 5))
        for name, before, after in zip(("bytes_read", "bytes_written"), once, more):
            planned = 4 * sum(sum(tensor[name]) for tensor in tensors)
            check(abs(after - before - planned) <= others, f"{ranks} ranks, {name}: {after - before} by the system, {planned} planned")


def test_direct(folder):
    """With --direct, what is read comes from the disk, and all else is as without."""
    options = ["-p", "n=512", "-p", "t=128", "--scratch", folder]
    done = distal(["run", "-e", PRODUCT, "-q", "--direct", *options], status=None)
    if "does not support direct I/O" in done.stderr:
        check(done.returncode == 1 and "cannot keep its part of tensor A" in done.stderr, done.stderr)
        return
    check(done.returncode == 0, done.stderr)
    for extra in (["-p", "p=2"], ["-p", "p=3", "--pipeline", "on"]):
        (planned,) = figures(PRODUCT, *options[:4], *extra, command="plan")
        (counted,) = figures(PRODUCT, *options, *extra, "--direct")
        for key in ("bytes_read", "bytes_written", "reads", "writes"):
            check(all(of.get(key) == counted["tensors"][name].get(key) for name, of in planned["tensors"].items()), key)
    for ranks in (1, 3):
        run(PRODUCT, "--check", "-p", "n=217", "-p", "t=50", "-p", f"p={ranks}", "--direct", "--scratch", folder)
        run(PRODUCT.replace("A(i, j) =", "A(i, j) +="), "--check", "--repeat", "2", "-p", "n=217", "-p", f"p={ranks}", "--direct")
    limit = ["-p", "n=64", "-p", "p=2", "--scratch", folder, "--memory-limit"]
    run(PRODUCT, *limit, "3M")
    run(PRODUCT, *limit, "4M", "--direct")
    refused = run(PRODUCT, *limit, "3M", "--direct", status=1)
    check("3.0 MiB in buffers of direct I/O" in refused.stderr, refused.stderr)
    tensors = figures(PRODUCT, *options[:4], command="plan")[0]["tensors"].values()
    planned = sum(sum(tensor["bytes_read"]) for tensor in tensors)
    from_disk = []
    for direct in ([], ["--direct"]):
        os.makedirs(f"{folder}/counts", exist_ok=True)
        run(PRODUCT, *options, *direct, environment={**preloaded("process_io"), "IO_FOLDER": f"{folder}/counts"})
        lines = [line for name in os.listdir(f"{folder}/counts") for line in open(f"{folder}/counts/{name}", encoding="utf-8")]
        from_disk.append(sum(int(line.split(": ")[1]) for line in lines if line.startswith("read_bytes:")))
        shutil.rmtree(f"{folder}/counts")
    check(from_disk[0] < planned // 4 and from_disk[1] >= planned, f"read from the disk: {from_disk}, planned {planned}")
    check(not os.listdir(folder), os.listdir(folder))


def test_direct_failing_disk(folder):
    """As without: one diagnostic, on all ranks; short reads are none."""
    environment = preloaded("failing_disk")
    options = ["-p", "n=256", "-p", "t=64", "-p", "p=2", "--direct", "--scratch", folder]
    if "direct I/O" in distal(["run", "-e", PRODUCT, "-q", *options], status=None).stderr:
        return
    run(PRODUCT, *options, "--check", environment=environment)
    for failure, why in (({"FAIL_READS": "8"}, "Input/output error"), ({"FAIL_WRITES": "20"}, "No space left on device")):
        done = run(PRODUCT, *options, status=1, environment={**environment, **failure})
        check(done.stderr.count("error:") == 1 and why in done.stderr, done.stderr)


def test_no_room(folder):
    """Where files cannot be created, all ranks say it and nothing is computed."""
    done = run(PRODUCT, "--scratch", f"{folder}/nowhere", status=1)
    check(done.stderr.count("error:") == 1 and "in a file in" in done.stderr and
          "No such file or directory" in done.stderr, done.stderr)
    # 64 MiB, as the files of the MPI library have to fit.
    script = 'ulimit -f 65536; exec "$@"'
    done = subprocess.run(["bash", "-c", script, "bash", DISTAL, "run", "-e", PRODUCT, "-p", "n=6000", "-p", "t=1000",
                           "-q", "--scratch", folder], capture_output=True, text=True, timeout=120, check=False)
    check(done.returncode == 1 and "cannot keep its part of tensor A, 144000000 bytes, in a file in" in done.stderr and
          "File too large" in done.stderr, done.stderr)
    check(not os.listdir(folder), os.listdir(folder))


def test_full_folder(folder):
    """A file system of its own that is full, where the test may mount one."""
    script = f'mount -t tmpfs -o size=64k none "{folder}" && exec "$@"'
    command = ["unshare", "-rm", "bash", "-c", script, "bash", DISTAL, "run", "-e", PRODUCT, "-q", "--scratch", folder]
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"], check=False,
                                                     capture_output=True).returncode:
        return
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if "mount:" not in done.stderr:
        check(done.returncode == 1 and "No space left on device" in done.stderr, done.stderr)


def test_failing_disk(folder):
    """Errors of reads and writes in the middle are one diagnostic, on all ranks, and nothing hangs; short reads are
    none."""
    environment = preloaded("failing_disk")
    run(PRODUCT, "--check", "--scratch", folder, environment=environment)
    run(PRODUCT, "--check", "--scratch", folder, "--pipeline", "on", environment=environment)
    for ranks in (1, 3):
        options = ["-p", f"p={ranks}", "--ranks", str(ranks), "--scratch", folder]
        for calls in (0, 40):
            for failure, why in (({"FAIL_READS": str(calls)}, "Input/output error"),
                                 ({"FAIL_READS": str(calls), "FAIL_SHORT": "1"}, "the file is shorter than it was"),
                                 ({"FAIL_WRITES": str(calls)}, "No space left on device")):
                done = run(PRODUCT, *options, "--pipeline", "on" if calls else "off", status=1, environment={**environment, **failure})
                check(done.stderr.count("error:") == 1 and "has failed to read or write tensor" in done.stderr and
                      why in done.stderr, done.stderr)
    check(not os.listdir(folder), os.listdir(folder))


def test_methods(folder):
    """What the methods of the Tensor Contraction Engine read, write and move, where tiles divide all extents."""
    del folder
    n, t = 96, 8
    whole, tiles = 8 * n * n, n // t

    def busiest(name, *options, statement=-1, ranks=2):
        arguments = ["-p", f"n={n}", "-p", f"t={t}", *options]
        path = f"{SOURCE}/examples/disk_{name}.distal"
        planned = json.loads(distal(["plan", path, "--stats=json", *arguments]).stdout)["statements"][statement]
        run_options = [] if ranks > 4 else ["--check"]
        counted = json.loads(distal(["run", path, "-q", "--stats=json", *arguments, *run_options]).stdout)["statements"]
        for tensor, of in planned["tensors"].items():
            for key in ("bytes_read", "bytes_written", "reads", "writes", "bytes_received"):
                check(of.get(key) == counted[statement]["tensors"][tensor].get(key), f"{name}: {key} of {tensor}")
        return {tensor: tuple(max(of.get(key, [0])) for key in ("bytes_read", "bytes_written", "bytes_received"))
                for tensor, of in planned["tensors"].items()}

    for p in (2, 3, 4):
        options = ("-p", f"p={p}")
        passes = tiles // p
        expected = {"A": (whole // p * passes, 0, whole * (p - 1) // p * passes), "B": (whole // p * tiles, 0, 0),
                    "C": (0, whole // p, 0)}
        check(busiest("replication", *options) == expected, f"replication on {p}: {busiest('replication', *options)}")
        expected = {"A": (whole // p * tiles, 0, 0), "B": (whole // p * tiles, 0, 0),
                    "C": (0, whole // p, whole * (p - 1) // p)}
        check(busiest("accumulation", *options) == expected, f"accumulation on {p}: {busiest('accumulation', *options)}")
        outside = busiest("outside", *options, "-p", f"rows={t}", statement=0)
        check(outside["A"] == (whole // p, 0, 0) and outside["W"][:2] == (0, whole), outside)
        outside = busiest("outside", *options, "-p", f"rows={t}")
        check(outside["W"] == (whole * passes, 0, 0) and outside["B"] == (whole // p * tiles, 0, 0), outside)
    for g in (2, 3):
        passes = tiles // g
        moved = (g - 1) * 8 * t * t * passes ** 3
        rotation = busiest("rotation", "-p", f"g={g}", ranks=g * g)
        # A tile that passes by its home is read there again.
        for tensor in "AB":
            check(rotation[tensor] == (2 * whole // (g * g) * passes, 0, moved), f"rotation on {g * g}: {rotation}")
        check(rotation["C"] == (0, whole // (g * g), 0), rotation)


def test_orders(folder):
    """Six orders of the tile loops: the tensor of the two outer loops passes once, the others once for each tile of the
    loop that they lack, and a result that comes back is read again."""
    n, t = 48, 8
    whole, tiles = 8 * n * n, n // t
    lacks = {"A": "jo", "B": "io", "C": "ko"}
    for order in itertools.permutations(("io", "jo", "ko")):
        text = f"param n = {n}; machine M = grid(1)" + "".join(
            f"; tensor {name}(n, n): f64; place {name}(x, y) -> M(x) in disk" for name in "ABC") + f"""
C(i, j) = A(i, k) * B(k, j)
schedule C {{
  split(i, io, ii, {t})
  split(j, jo, ji, {t})
  split(k, ko, ki, {t})
  reorder({{{', '.join(order)}, ii, ji, ki}})
""" + "".join(f"  communicate({name}, {[loop for loop in order if loop != lacks[name]][-1]})\n" for name in "ABC") + "}\n"
        for pipelined in ("off", "on"):
            (statement,) = figures(text, "--check", "--scratch", folder, "--pipeline", pipelined)
            for name, of in statement["tensors"].items():
                passes = 1 if lacks[name] == order[2] else tiles
                expected = [whole * (passes - (name == "C"))], [whole * passes * (name == "C")]
                # Files are stored by tile.
                runs = [expected[0][0] // (8 * t * t)], [expected[1][0] // (8 * t * t)]
                check((of["reads"], of["writes"]) == runs, f"{order}: {name} {of}, not {runs}")
                check((of["bytes_read"], of["bytes_written"]) == expected, f"{order}: {name} {of}, not {expected}")


def test_killed(folder):
    """Nothing remains of a run that is killed."""
    with subprocess.Popen([DISTAL, "run", "-e", PRODUCT, "-q", "-p", "n=512", "-p", "t=64", "--repeat", "100000",
                           "--scratch", folder], stderr=subprocess.DEVNULL, start_new_session=True) as process:
        def has_files():
            for number in filter(str.isdigit, os.listdir("/proc")):
                try:
                    links = [os.readlink(f"/proc/{number}/fd/{fd}") for fd in os.listdir(f"/proc/{number}/fd")]
                except OSError:
                    continue
                if any(link.startswith(os.path.realpath(folder)) for link in links):
                    return True
            return False
        check(wait_for(has_files, 60), "no file was opened")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    check(wait_for(lambda: not has_files(), 30), "a rank goes on")
    time.sleep(0.1)
    check(not os.listdir(folder), os.listdir(folder))


if __name__ == "__main__":
    sys.exit(run_cases(functions_named_test("disk", globals())))
