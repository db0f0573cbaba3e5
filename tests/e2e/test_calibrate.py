#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""`distal calibrate`: what it writes is a description that `distal plan` reads, whole or not at all, and nothing stays
in the scratch folder. How large the figures are is not looked at.

Prints `ok NAME` or `FAIL NAME: why` for each case. A name on the command line runs the cases that contain it."""
import os
import re
import sys

from _common import check, distal, example, functions_named_test, run_cases

FIGURES = ["level node", "level core", "rate gemm", "rate vector", "rate loops", "rate sparse", "rate merge", "factor broadcast",
           "factor all-gather", "factor reduce ", "factor reduce-scatter", "factor all-reduce", "disk read",
           "disk write", "single", "parallel", "overhead", "overlap"]


def check_description(folder, ranks):
    path = os.path.join(folder, "here.machine")
    scratch = os.path.join(folder, "scratch")
    os.mkdir(scratch)
    done = distal(["calibrate", "-n", str(ranks), "--oversubscribe", "-o", path, "--scratch", scratch])
    check(done.stdout == "" and done.stderr == "", f"it prints: {done.stdout}{done.stderr}")
    check(os.listdir(scratch) == [] and sorted(os.listdir(folder)) == ["here.machine", "scratch"], "files remain")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for figure in FIGURES:
        check(len(re.findall(f"^{figure}", text, re.MULTILINE)) == 1, f"no line '{figure}':\n{text}")
    check(len(re.findall(r"^# .* spread [0-9.]+%$", text, re.MULTILINE)) > 30, f"no spreads:\n{text}")
    planned = distal(["plan", example("summa"), "--machine", path]).stdout
    check("predicted: " in planned and "nan" not in planned and "inf" not in planned, planned)


def test_one_rank(folder):
    check_description(folder, 1)


def test_three_ranks(folder):
    check_description(folder, 3)


def test_no_scratch_folder(folder):
    path = os.path.join(folder, "here.machine")
    done = distal(["calibrate", "-n", "2", "-o", path, "--scratch", os.path.join(folder, "none")], 1)
    check("cannot measure the disk in '" in done.stderr and "No such file" in done.stderr, done.stderr)
    check(os.listdir(folder) == [], "files remain")


def test_no_compiler(_):
    done = distal(["calibrate", "-n", "1"], 1,
                  environment={"DISTAL_CC": "/no/compiler", "XDG_CACHE_HOME": "/no/cache"})
    check("cannot measure loops: " in done.stderr, done.stderr)
    check(done.stdout == "", done.stdout)


def test_no_output_folder(_):
    done = distal(["calibrate", "-n", "1", "-o", "/no/folder/here.machine"], 1)
    check("/no/folder/here.machine" in done.stderr, done.stderr)


def test_too_many_ranks(_):
    done = distal(["calibrate", "-n", "100000"], 2)
    check("100000 processes are too many for " in done.stderr, done.stderr)


if __name__ == "__main__":
    sys.exit(run_cases(functions_named_test("calibrate", globals())))
