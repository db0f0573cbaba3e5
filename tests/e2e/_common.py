# SPDX-License-Identifier: BSD-3-Clause
"""What the end-to-end tests share: running the command, and running cases one by one."""
import atexit
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

import _resident

DISTAL = os.environ.get("DISTAL", "build/distal")
SOURCE = os.environ.get("DISTAL_SOURCE", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
LIMIT_SECONDS = 120
# The optimization of kernels that users have, for test_run.py; the documents and a quarter of the property test have it,
# too. The other tests compile kernels in half of the time.
OPTIMIZED = {"DISTAL_CFLAGS": os.environ.get("DISTAL_CFLAGS")}
os.environ.setdefault("DISTAL_CFLAGS", "-O1")
DTYPE = {"f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16", "i32": "i4", "i64": "i8"}


class Failure(Exception):
    """Something is not as it should be."""


def check(condition, why):
    if not condition:
        raise Failure(why)


def distal(arguments, status=0, text=None, environment=None):
    """Runs the command, expects its exit status (None: any), and returns what it printed. Of `environment`, None is not set."""
    variables = {name: value for name, value in {**os.environ, **(environment or {})}.items() if value is not None}
    done = subprocess.run([DISTAL, *arguments], capture_output=True, timeout=LIMIT_SECONDS, check=False, text=True,
                          input=text, env=variables)
    check(status is None or done.returncode == status,
          f"`{' '.join(arguments)}` ended with {done.returncode}, expected {status}: {done.stderr.strip()}")
    return done


@functools.cache
def preloaded(name, compiler=None):
    """The environment of a run in which functions of tests/support/NAME.c take the place of others."""
    library = f"{tempfile.mkdtemp(prefix='distal-preload-')}/{name}.so"
    subprocess.run([*(compiler or os.environ.get("CC", "cc")).split(), "-shared", "-fPIC", "-o", library,
                    f"{SOURCE}/tests/support/{name}.c", "-ldl"], check=True, timeout=LIMIT_SECONDS)
    atexit.register(shutil.rmtree, os.path.dirname(library))
    return {"LD_PRELOAD": library, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}


def stay():
    """From now on, the ranks of runs stay for later runs (_resident.py). For tests of what runs compute, and not of how they
    are started and ended."""
    os.environ.update(_resident.environment())


def example(name):
    return os.path.join(SOURCE, "examples", f"{name}.distal")


def params(text):
    return [word for pair in text.split() for word in ("-p", pair)]


def ranks_of_run(token):
    """Process ids by rank of the run whose environment holds the token."""
    found = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                variables = dict(word.split(b"=", 1) for word in file.read().split(b"\0") if b"=" in word)
        except OSError:
            continue
        rank = variables.get(b"OMPI_COMM_WORLD_RANK", variables.get(b"PMI_RANK"))
        if variables.get(b"DISTAL_TEST") == token.encode() and rank is not None:
            found[int(rank)] = int(process)
    return found


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def once(run):
    """A function that calls `run` with a folder the first time, and gives its result, or its failure, every time: for cases
    that are checked one by one after one run of all of them, as starting ranks takes most of the time of a run."""
    outcome = []

    def result():
        if not outcome:
            with tempfile.TemporaryDirectory(prefix="distal-e2e-") as folder:
                try:
                    outcome.append((run(folder), None))
                except (Failure, subprocess.TimeoutExpired) as failure:
                    outcome.append((None, failure))
        value, failure = outcome[0]
        if failure:
            raise failure
        return value

    return result


def functions_named_test(group, names):
    """(title, function) of each test_... among the names of a module, in which no two may have the same name."""
    with open(names["__file__"], encoding="utf-8") as file:
        defined = re.findall(r"^def (test_\w+)", file.read(), re.MULTILINE)
    twice = {name for name in defined if defined.count(name) > 1}
    if twice:
        raise SystemExit(f"{names['__file__']} defines {', '.join(sorted(twice))} twice")
    return [(f"{group}/{name[len('test_'):]}", function) for name, function in sorted(names.items())
            if name.startswith("test_")]


def run_cases(cases):
    """Calls each function of (title, function) with a folder of its own, prints how that went, and returns the exit
    status. Words on the command line choose the cases that contain one of them."""
    failed = 0
    for title, function in cases:
        if not any(word in title for word in sys.argv[1:] or [""]):
            continue
        with tempfile.TemporaryDirectory(prefix="distal-e2e-") as folder:
            try:
                function(folder)
                print(f"ok {title}", flush=True)
            except (Failure, subprocess.TimeoutExpired, OSError, ValueError) as error:
                failed += 1
                print(f"FAIL {title}: {error}", flush=True)
                if not isinstance(error, Failure):
                    print("    " + traceback.format_exc().replace("\n", "\n    "), flush=True)
    return exit_status(failed)


def exit_status(failed):
    """That of the test, of which something has failed or not, after ranks that have stayed."""
    wrong = _resident.end()
    if wrong:
        print(f"FAIL ranks that have stayed: {wrong}", flush=True)
    return 1 if failed or wrong else 0
