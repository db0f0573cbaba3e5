#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the golden cases: one file a case, holding a program, a command, and exactly what the command prints.

    # run: explain -p n=8 {file}
    # status: 0
    --- program
    ...
    --- file b.mtx
    ...
    --- stdout
    ...
    --- stderr
    ...

{file} is NAME.distal for the case NAME.t, lying in a fresh folder where the command runs, together with other files
that the case has; the program is on standard input as well. A missing status means 0, a missing part means empty. A line `# mask: REGEX` replaces what
changes from run to run, such as a time, by `...` before comparing. Other lines before the first part are comments.
With --update the expected status and parts are rewritten to what the command does now.
"""
import argparse
import concurrent.futures
import difflib
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")
LIMIT_SECONDS = 60


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--distal", default=os.environ.get("DISTAL", "build/distal"), help="the command to test")
    parser.add_argument("--update", action="store_true", help="rewrite what the cases expect")
    parser.add_argument("--jobs", type=int, default=2, help="cases at a time (default: 2)")
    parser.add_argument("case", nargs="*", help="names or files of cases (default: all)")
    options = parser.parse_args()
    distal = os.path.abspath(options.distal)

    paths = sorted(glob.glob(f"{CASES}/**/*.t", recursive=True))
    if options.case:
        paths = [p for p in paths if case_name(p) in options.case or p in map(os.path.abspath, options.case)]
    if not paths:
        print("FAIL golden: no such case")
        return 1
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, why in pool.map(lambda path: run_case(path, distal, options.update), paths):
            print(f"FAIL {name}: {why}" if why else f"ok {name}", flush=True)
            failed += why is not None
    return 1 if failed else 0


def case_name(path):
    return "golden/" + os.path.splitext(os.path.relpath(path, CASES))[0]


def run_case(path, distal, update):
    """(name, None) where the case holds, (name, why) where it does not."""
    name = case_name(path)
    try:
        case = read_case(path)
        actual = execute(case, distal, os.path.splitext(os.path.basename(path))[0])
    except (ValueError, OSError) as error:
        return name, str(error)
    except subprocess.TimeoutExpired:
        return name, f"still running after {LIMIT_SECONDS} s"
    expected = {"status": case["status"], "stdout": case["stdout"], "stderr": case["stderr"]}
    if actual == expected:
        return name, None
    if update and actual["status"] >= 0:
        write_case(path, case, actual)
        return name, None
    differences = []
    if actual["status"] != expected["status"]:
        differences.append(f"status {actual['status']}, expected {expected['status']}")
    for part in ("stdout", "stderr"):
        differences += difflib.unified_diff(expected[part].splitlines(), actual[part].splitlines(),
                                            f"expected {part}", f"actual {part}", lineterm="")
    return name, "\n    ".join(differences)


def read_case(path):
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    head, *rest = re.split(r"^--- (program|stdout|stderr|file \S+)\n", text, flags=re.MULTILINE)
    case = {"head": head, "program": "", "stdout": "", "stderr": "", "status": 0, "masks": []}
    case.update(zip(rest[::2], rest[1::2]))
    case["files"] = {part[5:]: text for part, text in case.items() if part.startswith("file ")}
    runs = re.findall(r"^# run:(.*)$", head, re.MULTILINE)
    if len(runs) != 1:
        raise ValueError(f"{len(runs)} lines '# run: ...', one expected")
    case["run"] = runs[0]
    case["masks"] = re.findall(r"^# mask: (.*)$", head, re.MULTILINE)
    status = re.search(r"^# status: (\d+)$", head, re.MULTILINE)
    case["status"] = int(status.group(1)) if status else 0
    return case


def execute(case, distal, stem):
    with tempfile.TemporaryDirectory(prefix="distal-golden-") as folder:
        file = f"{stem}.distal"
        for name, text in {file: case["program"], **case["files"]}.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as to:
                to.write(text)
        arguments = [word.replace("{file}", file) for word in shlex.split(case["run"])]
        done = subprocess.run([distal, *arguments], input=case["program"].encode(), capture_output=True,
                              cwd=folder, timeout=LIMIT_SECONDS, check=False)
    streams = {"stdout": done.stdout.decode(errors="backslashreplace"),
               "stderr": done.stderr.decode(errors="backslashreplace")}
    for part, text in streams.items():
        for mask in case["masks"]:
            text = re.sub(mask, "...", text, flags=re.MULTILINE)
        if text and not text.endswith("\n"):
            text += "\n(no newline at the end)\n"
        streams[part] = text
    return {"status": done.returncode, **streams}


def write_case(path, case, actual):
    head = re.sub(r"^# status: .*\n", "", case["head"], flags=re.MULTILINE)
    if actual["status"] != 0:
        head = re.sub(r"^(# run:.*\n)", lambda m: f"{m.group(1)}# status: {actual['status']}\n", head,
                      flags=re.MULTILINE)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(head + "--- program\n" + case["program"])
        for name, text in case["files"].items():
            file.write(f"--- file {name}\n{text}")
        for part in ("stdout", "stderr"):
            if actual[part]:
                file.write(f"--- {part}\n{actual[part]}")


if __name__ == "__main__":
    sys.exit(main())
