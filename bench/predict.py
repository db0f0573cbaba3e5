#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures this machine with `distal calibrate` on as many ranks, and compares the times that `distal plan --machine` predicts with those
that `distal run` takes: six algorithms for the product of matrices and higher-order programs, of several sizes, on 1, 2
and 4 ranks. Prints the ratio of each, the median and the largest error, and how well the order of the algorithms is
predicted where they compute the same on the same ranks (Spearman's rank correlation).

The error of a time is |predicted / measured - 1|."""
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile

import report

# (program, sizes, params on 1, 2 and 4 ranks)
MATRIX_SIZES = (240, 480, 960, 1440)
MATRICES = [("summa", MATRIX_SIZES, ("gx=1 gy=1", "gx=2 gy=1", "gx=2 gy=2")),
            ("cannon", MATRIX_SIZES, ("g=1", "gx=2 gy=1", "g=2")),
            ("pumma", MATRIX_SIZES, ("g=1", "gx=2 gy=1", "g=2")),
            ("johnson", MATRIX_SIZES, ("c=1", "gx=1 gy=1 gz=2", "gx=2 gy=1 gz=2")),
            ("solomonik", MATRIX_SIZES, ("g=1 c=1", "g=1 c=2", "g=2 c=1")),
            ("cosma", MATRIX_SIZES, ("gx=1 gy=1 gz=1", "gx=2 gy=1 gz=1", "gx=2 gy=2 gz=1"))]
HIGHER = [("ttv", (64, 96, 160, 256), ("gx=1 gy=1", "gx=2 gy=1", "gx=2 gy=2")),
          ("innerprod", (64, 96, 160, 256), ("gx=1 gy=1", "gx=2 gy=1", "gx=2 gy=2")),
          ("ttm", (48, 64, 96, 160), ("p=1", "p=2", "p=4")),
          ("mttkrp", (48, 64, 96, 160), ("gx=1 gy=1", "gx=2 gy=1", "gx=2 gy=2")),
          ("mttkrp_rows", (48, 64, 96, 160), ("gx=1 gy=1", "gx=2 gy=1", "gx=2 gy=2")),
          ("coupled_cluster", (12, 16, 24, 32), ("gx=1 gy=1", "gx=2 gy=1", "gx=2 gy=2"))]
RANKS = (1, 2, 4)
# (program, ranks, params for a size), with a quarter of the memory that the tensors of a rank take.
OUT_OF_CORE = [("disk_orders", 1, lambda n: f"t={n // 8}"), ("disk_replication", 1, lambda n: f"p=1 t={n // 8}"),
               ("disk_replication", 2, lambda n: f"p=2 t={n // 8}"), ("disk_accumulation", 2, lambda n: f"p=2 t={n // 8}"),
               ("disk_outside", 2, lambda n: f"p=2 t={n // 8} rows={n // 48}"), ("disk_rotation", 4, lambda n: f"g=2 t={n // 12}")]
OUT_OF_CORE_SIZES = (720, 1440)


def distal(options, *arguments):
    command = [os.path.join(report.build_folder(options), "distal"), *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with status {done.returncode}")
    return done.stdout


def machine_for(options, ranks, folder):
    """A description for as many ranks: that of the options, else this machine is measured, once for up to two ranks."""
    if options.machine:
        return options.machine.replace("{ranks}", str(max(2, ranks)))
    path = os.path.join(folder, f"{max(2, ranks)}.machine")
    if not os.path.exists(path):
        distal(options, "calibrate", "-q", "-n", str(max(2, ranks)), "-o", path, "--scratch", options.scratch)
    return path


def arguments_of(case):
    program, size, ranks, params, pipeline = case
    words = itertools.chain.from_iterable(("-p", word) for word in (f"n={size}", *params.split()))
    return [os.path.join(report.ROOT, "examples", f"{program}.distal"), "-n", str(ranks), *words, "--stats=json", *(["--pipeline", pipeline] if pipeline else [])]


def seconds(options, case):
    _, size, ranks, _, pipeline = case
    limited = ["--memory-limit", str(3 * 8 * size * size // ranks // 4), "--scratch", options.scratch] if pipeline else []
    statements = json.loads(distal(options, "run", *arguments_of(case), *limited, "--shared-memory", "off", "--warmup", "2", "--repeat", str(options.repeat)))["statements"]
    return sum(statement["seconds"]["median"] for statement in statements)


def predicted(options, case, machine):
    statements = json.loads(distal(options, "plan", *arguments_of(case), "--machine", machine))["statements"]
    return [{name: sum(statement["predicted"][name] for statement in statements) for name in
             ("total", "computing", "memory", "network", "disk")}][0]


def ranks_of(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0] * len(values)
    for place, index in enumerate(order):
        result[index] = place
    return result


def correlation(first, second):
    """Spearman's, of lists without equal values."""
    count = len(first)
    return 1 - 6 * sum((a - b) ** 2 for a, b in zip(ranks_of(first), ranks_of(second))) / (count * (count * count - 1))


def cases_of(options):
    if options.out_of_core:
        for size, (program, ranks, params), pipeline in itertools.product(OUT_OF_CORE_SIZES, OUT_OF_CORE, ("off", "on")):
            yield program, size, ranks, params(size), pipeline
        return
    for programs in (MATRICES, HIGHER):
        for program, sizes, params in programs:
            for size, (ranks, param) in itertools.product(sizes[1:3] if options.quick else sizes, zip(RANKS, params)):
                if options.only is None or program in options.only.split(","):
                    yield program, size, ranks, param, None


def print_errors(results, what, rows):
    """Notes the errors of some rows, and prints them; nothing where there are none."""
    errors = sorted((abs(row["ratio"] - 1), f"{row['program']}, n = {row['n']}, {row['ranks']} ranks") for row in rows)
    if errors:
        median, (worst, where) = statistics.median(error for error, _ in errors), errors[-1]
        results.note(f"errors: {what}", {"median": median, "worst": worst, "times": len(rows)},
                     f"{what}: median error {100 * median:.1f}%, worst {100 * worst:.0f}% ({where}); of {len(rows)} times, "
                     f"{sum(error <= 0.1 for error, _ in errors)} within 10%, {sum(error <= 0.3 for error, _ in errors)} within 30%")


def summarize(results, rows):
    cores = len(os.sched_getaffinity(0))
    matrices = [program for program, _, _ in MATRICES]
    own = [row for row in rows if row["ranks"] <= cores]
    print_errors(results, "a core for each rank", own)
    print_errors(results, "a core for each rank, from 0.1 ms on", [row for row in own if row["measured"] >= 0.1])
    print_errors(results, "cores shared by ranks", [row for row in rows if row["ranks"] > cores])
    print_errors(results, "all", rows)
    if len(rows) > 2:
        overall = correlation([row["measured"] for row in rows], [row["predicted"] for row in rows])
        results.note("correlation", overall, f"rank correlation of all times {overall:.3f}")
    # On one rank all of them do the same.
    groups = {}
    for row in rows:
        if row["program"] in matrices and row["ranks"] > 1:
            groups.setdefault((row["n"], row["ranks"]), []).append(row)
    groups = [group for group in groups.values() if len(group) > 2]
    single = [correlation([row["measured"] for row in group], [row["predicted"] for row in group]) for group in groups]
    lost = [min(group, key=lambda row: row["predicted"])["measured"] / min(row["measured"] for row in group) - 1 for group in groups]
    if single:
        results.note("correlation_of_algorithms", single,
                     f"of the algorithms on as many ranks, {len(single)} sizes and ranks: rank correlation {statistics.median(single):.2f} "
                     f"(median); the one predicted as fastest takes {100 * statistics.median(lost):.1f}% longer than the fastest (median), "
                     f"at most {100 * max(lost):.0f}%")


def main():
    parser = report.parser(__doc__, 9)
    parser.add_argument("--machine", metavar="FILE", help="a description, in place of measuring this machine; {ranks} in it stands for the ranks")
    parser.add_argument("--only", metavar="PROGRAM,...", help="these programs")
    parser.add_argument("--out-of-core", action="store_true", help="products of matrices in disk, with and without --pipeline on")
    parser.add_argument("--scratch", metavar="FOLDER", default=tempfile.gettempdir(), help="where tensors in disk are")
    parser.add_argument("--again", metavar="FILE", help="predict the times again that this JSON of earlier results has as measured")
    options = report.parse(parser)
    results = report.Report("predict", options, {"program": 17, "n": 6, "ranks": 6, "pipeline": 9},
                            {"measured": ".3f", "predicted": ".3f", "ratio": ".2f", "computing": ".3f", "memory": ".3f",
                             "network": ".3f", "disk": ".3f"}, ["ratio"], 1)
    rows = []
    measured = {}
    if options.again:
        with open(options.again, encoding="utf-8") as file:
            measured = {(row["program"], row["n"], row["ranks"], row.get("pipeline") or None): row["measured"] / 1e3
                        for row in json.load(file)["rows"]}
    with tempfile.TemporaryDirectory() as folder:
        print("times in ms")
        for case in cases_of(options):
            program, size, ranks, _, pipeline = case
            if options.again and (program, size, ranks, pipeline) not in measured:
                continue
            time = measured.get((program, size, ranks, pipeline)) or seconds(options, case)
            guess = predicted(options, case, machine_for(options, ranks, folder))
            rows.append({"program": program, "n": size, "ranks": ranks, "pipeline": pipeline or "", "measured": 1e3 * time, "predicted": 1e3 * guess["total"],
                         "ratio": guess["total"] / time, **{key: 1e3 * guess[key] for key in ("computing", "memory", "network", "disk")}})
            results.row(**rows[-1])
    summarize(results, rows)
    results.write()


if __name__ == "__main__":
    main()
