#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the contractions of examples/ with the placements and schedules that are written there, and with those that
`distal schedule` chooses, on 1, 2 and 4 ranks, and prints the time of the chosen ones as a share of the time of the best
written one. Those with a sparse operand have placements of this program: by blocks of rows, by blocks with equal numbers of
entries, and by entries. The runs of one contraction take turns, several times.

Machines are measured with `distal calibrate` on as many ranks, unless --machine describes one."""
import dataclasses
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
# How a sparse operand B can be placed, and what has its first mode as well. Other tensors are in blocks of their first
# mode; a result beside entries is where it is computed.
PLACINGS = {"rows": ("{0}", "{0}"), "weighted": ("weighted({0})", "weighted({0}, B)"), "entries": ("~fuse({1})", None)}
PLACED = {way: ("g=1", "g=2", "g=4") for way in PLACINGS}


@dataclasses.dataclass
class Contraction:
    programs: dict  # with their grids on 1, 2 and 4 ranks; of a sparse one, ways to place it
    sizes: tuple
    example: str = ""  # of a sparse one
    operands: tuple = ()  # of which B, and others, are made


CONTRACTIONS = {
    "product": Contraction({name: GRIDS[name] for name in PRODUCTS}, ("n=480", "n=960", "n=1440")),
    "tall product": Contraction(TALL, ("m=100000 n=64 q=64",)),
    "deep product": Contraction(DEEP, ("m=128 n=128 q=200000",)),
    "ttv": Contraction({"ttv": GRIDS["ttv"]}, ("n=160", "n=256")),
    "innerprod": Contraction({"innerprod": GRIDS["innerprod"]}, ("n=160", "n=256")),
    "ttm": Contraction({"ttm": GRIDS["ttm"]}, ("n=96", "n=160")),
    "mttkrp": Contraction({name: GRIDS["mttkrp"] for name in ("mttkrp", "mttkrp_rows", "mttkrp_ttm")}, ("n=96", "n=160")),
    "coupled cluster": Contraction({"coupled_cluster": GRIDS["coupled_cluster"]}, ("n=24", "n=32")),
}
GRAPH, STENCIL = ("n=131072",), ("n=125000",)
for _name in ("spmv", "spmm", "sddmm"):
    CONTRACTIONS[f"{_name} rmat"] = Contraction(PLACED, GRAPH, _name, ("B=rmat:1:17:2097152",))
    CONTRACTIONS[f"{_name} stencil"] = Contraction(PLACED, STENCIL, _name, ("B=stencil:27",))
CONTRACTIONS |= {
    "spgemm": Contraction(PLACED, ("n=16384",), "spgemm", ("B=rmat:1:14:262144", "C=rmat:2:14:262144")),
    "spadd": Contraction(PLACED, GRAPH, "spadd", ("B=rmat:1:17:2097152", "C=rmat:2:17:2097152", "D=rmat:3:17:2097152")),
    "sparse mttkrp": Contraction(PLACED, ("m=5000 n=5000 q=500 r=32",), "sparse_mttkrp", ("B=sparse:1:1000000",)),
}


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


def seconds(options, path, ranks, params, inputs):
    counts = ["--warmup", "1", "--repeat", str(options.repeat)]
    stats = json.loads(distal(options, "run", path, "-q", "-n", str(ranks), *words(params), *inputs, *counts, "--stats=json"))
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


def placed(name, way, folder):
    """The example with B placed in one of the ways. It is placed first, as the blocks of others may be those of B."""
    with open(example(name), encoding="utf-8") as file:
        text = file.read()
    statement = re.search(r"(?m)^\w+\(.*= .*$", text)
    accesses = dict((tensor, variables.split(", ")) for tensor, variables in re.findall(r"(\w+)\(([\w, ]+)\)", statement.group()))
    first = accesses["B"][0]
    of_b, of_others = PLACINGS[way]
    lines = ["param g = 1", "machine M = grid(g)"]
    for tensor in sorted(accesses, key="B".__ne__):
        variables = accesses[tensor]
        where = of_b if tensor == "B" else of_others if first in variables else "{0}"
        if where:
            lines.append(f"place {tensor}({', '.join(variables)}) -> M({where.format(variables[0], ', '.join(variables))})")
    to = os.path.join(folder, f"{way}.distal")
    with open(to, "w", encoding="utf-8") as file:
        file.write("\n".join([text[:statement.start()], *lines, text[statement.start():]]))
    return to


def compare(options, contraction, size, ranks, machine, folder):
    """The median time of each program, interleaved: each round runs all of them once, beginning with another one."""
    first = contraction.example or next(iter(contraction.programs))
    inputs = [word for operand in contraction.operands for word in ("--in", operand)]
    chosen = json.loads(distal(options, "schedule", bare(example(first), folder), "-n", str(ranks), *words(size), *inputs,
                               "--machine", machine, "--stats=json"))
    path = os.path.join(folder, "chosen.distal")
    with open(path, "w", encoding="utf-8") as file:
        file.write(chosen["text"])
    runs = [("chosen", path, "")]
    for name, grids in contraction.programs.items():
        program = placed(first, name, folder) if contraction.example else written(name, folder)
        runs.append((name, program, f"{size} {grids[RANKS.index(ranks)]}"))
    times = {name: [] for name, _, _ in runs}
    for _ in range(options.rounds):
        runs = runs[1:] + runs[:1]
        for name, path, params in runs:
            times[name].append(seconds(options, path, ranks, params, inputs))
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
            for name, contraction in CONTRACTIONS.items():
                for size in contraction.sizes[:1] if options.quick else contraction.sizes:
                    if options.only and name not in options.only.split(","):
                        continue
                    times, how = compare(options, contraction, size, ranks, machine, folder)
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
