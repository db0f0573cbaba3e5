#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the contractions of examples/ with the placements and schedules that are written there, and with those that
`distal schedule` chooses, on 1, 2 and 4 ranks, and prints the time of the chosen ones as a share of the time of the best
written one. The runs of one contraction take turns, several times.

Machines are measured with `distal calibrate` on as many ranks, unless --machine describes one."""
import itertools
import json
import os
import re
import statistics
import sys
import tempfile

import report
from predict import HIGHER, MATRICES, RANKS, distal, machine_for

GRIDS = {name: params for name, _, params in MATRICES + HIGHER}
PRODUCTS = tuple(name for name, _, _ in MATRICES)
# Of long matrices, along the long side: by rows of it, or with sums over it.
TALL = {"summa": ("gx=1 gy=1", "gx=2 gy=1", "gx=4 gy=1"), "johnson": ("c=1", "gx=2 gy=1 gz=1", "gx=4 gy=1 gz=1"),
        "cosma": ("gx=1 gy=1 gz=1", "gx=2 gy=1 gz=1", "gx=4 gy=1 gz=1")}
DEEP = {"johnson": ("c=1", "gx=1 gy=1 gz=2", "gx=1 gy=1 gz=4"), "cosma": ("gx=1 gy=1 gz=1", "gx=1 gy=1 gz=2", "gx=1 gy=1 gz=4")}
# Name, programs of one contraction with their grids, and sizes.
CONTRACTIONS = [("product", {name: GRIDS[name] for name in PRODUCTS}, ("n=480", "n=960", "n=1440")),
                ("tall product", TALL, ("m=100000 n=64 q=64",)),
                ("deep product", DEEP, ("m=128 n=128 q=200000",)),
                ("ttv", {"ttv": GRIDS["ttv"]}, ("n=160", "n=256")),
                ("innerprod", {"innerprod": GRIDS["innerprod"]}, ("n=160", "n=256")),
                ("ttm", {"ttm": GRIDS["ttm"]}, ("n=96", "n=160")),
                ("mttkrp", {name: GRIDS["mttkrp"] for name in ("mttkrp", "mttkrp_rows", "mttkrp_ttm")}, ("n=96", "n=160")),
                ("coupled cluster", {"coupled_cluster": GRIDS["coupled_cluster"]}, ("n=24", "n=32"))]


# Without a placement, each rank has what its part of the schedule reads, so that nothing moves. Here each element of an
# operand lies on one rank.
PLACES = {"cosma": "".join(f"place {tensor}(x, y) -> M(x, y, 0)\n" for tensor in "ABC")}


def bare(path, folder):
    """The program without its machine, placements and schedule."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"(?ms)^schedule .*?^\}\n|^machine .*?\n|^place .*?\n", "", file.read())
    to = os.path.join(folder, "bare.distal")
    with open(to, "w", encoding="utf-8") as file:
        file.write(text)
    return to


def words(params):
    return list(itertools.chain.from_iterable(("-p", word) for word in params.split()))


def seconds(options, path, ranks, params):
    counts = ["--warmup", "1", "--repeat", str(options.repeat)]
    stats = json.loads(distal(options, "run", path, "-q", "-n", str(ranks), *words(params), *counts, "--stats=json"))
    return sum(statement["seconds"]["median"] for statement in stats["statements"])


def example(name):
    return os.path.join(report.ROOT, "examples", f"{name}.distal")


def written(name, folder):
    """The example, with placements if it lacks them."""
    if name not in PLACES:
        return example(name)
    with open(example(name), encoding="utf-8") as file:
        text = file.read().replace("\nschedule ", f"\n{PLACES[name]}\nschedule ")
    to = os.path.join(folder, f"{name}.distal")
    with open(to, "w", encoding="utf-8") as file:
        file.write(text)
    return to


def compare(options, programs, size, ranks, machine, folder):
    """The median time of each program, interleaved: in each round each is run once."""
    chosen = json.loads(distal(options, "schedule", bare(example(next(iter(programs))), folder), "-n", str(ranks), *words(size),
                               "--machine", machine, "--stats=json"))
    path = os.path.join(folder, "chosen.distal")
    with open(path, "w", encoding="utf-8") as file:
        file.write(chosen["text"])
    runs = [("chosen", path, "")]
    runs += [(name, written(name, folder), f"{size} {grids[RANKS.index(ranks)]}") for name, grids in programs.items()]
    times = {name: [] for name, _, _ in runs}
    for _ in range(options.rounds):
        for name, path, params in runs:
            times[name].append(seconds(options, path, ranks, params))
    first = chosen["statements"][0]["alternatives"][0]
    return {name: statistics.median(all_of) for name, all_of in times.items()}, f"{first['where']} {first['how']}".strip()


def main():
    parser = report.parser(__doc__, 3)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each program (default: 5)")
    parser.add_argument("--machine", metavar="FILE", help="a description, in place of measuring this machine; {ranks} in it stands for the ranks")
    parser.add_argument("--scratch", metavar="FOLDER", default=tempfile.gettempdir(), help="where disks are measured")
    parser.add_argument("--only", metavar="NAME,...", help="these contractions")
    parser.add_argument("--ranks", metavar="N,...", help="on these ranks only")
    options = report.parse(parser)
    results = report.Report("choice", options, {"contraction": 16, "size": 20, "ranks": 6, "best": 16},
                            {"chosen": ".3f", "written": ".3f", "ratio": ".3f", "how": ""}, ["ratio"], 1)
    with tempfile.TemporaryDirectory() as folder:
        print("times in ms")
        for ranks in map(int, options.ranks.split(",")) if options.ranks else RANKS:
            machine = machine_for(options, ranks, folder)
            for name, programs, sizes in CONTRACTIONS:
                for size in sizes[:1] if options.quick else sizes:
                    if options.only and name not in options.only.split(","):
                        continue
                    times, how = compare(options, programs, size, ranks, machine, folder)
                    best = min((time, program) for program, time in times.items() if program != "chosen")
                    results.row(contraction=name, size=size, ranks=ranks, best=best[1], chosen=1e3 * times["chosen"],
                                written=1e3 * best[0], ratio=times["chosen"] / best[0], how=how, times=times)
    ratios = sorted(row["ratio"] for row in results.rows)
    if ratios:
        results.note("ratios", {"median": statistics.median(ratios), "worst": ratios[-1]},
                     f"chosen / best written: median {statistics.median(ratios):.3f}, worst {ratios[-1]:.3f}; "
                     f"{sum(ratio <= 1.05 for ratio in ratios)} of {len(ratios)} within 5%")
    results.write()


if __name__ == "__main__":
    sys.exit(main())
