#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs without schedules, some with placements: what `schedule` prints is parsed, runs, and is right, on any number of ranks,
moves what the table says, and is printed again by `schedule` with its schedules. Statements are drawn: products of two or three tensors of
any order with odd extents, sums of terms, and sequences in which a result is an operand of the next statement.

Prints `ok NAME` or `FAIL NAME: why` for each case."""
import json
import math
import os
import random
import re
import sys

from _common import check, distal, functions_named_test, run_cases, stay
from test_sparse_statements import SparseCase

DRAWS = 24
RANKS = [1, 2, 3, 4, 6, 8, 12]
GRIDS = {2: "2", 3: "3", 4: "2, 2", 6: "3, 2", 8: "2, 2, 2", 12: "2, 6"}


class Draw:
    """A program: its text, and the ranks that it is scheduled for."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.draw = draw
        self.ranks = draw.choice(RANKS)
        self.extents = {name: draw.choice([1, 2, 3, 5, 7, 11, 13, 17]) for name in "abcdefg"}
        self.tensors = {}
        self.lines = []
        operands = []
        for number in range(draw.choice([1, 1, 1, 2, 3])):
            operands = [self.statement(f"T{number}", operands[-1:])]
        if draw.random() < 0.2:
            self.lines = ["repeat 2 {"] + self.lines + ["}"]

    def tensor(self, name, variables):
        self.tensors[name] = variables
        return f"{name}({', '.join(variables)})" if variables else name

    def statement(self, target, earlier):
        """Adds T = a sum of terms, each a product; returns the name and the variables of T."""
        draw = self.draw
        left = draw.sample("abcdefg", draw.choice([0, 1, 2, 2, 3]))
        terms = []
        for term in range(draw.choice([1, 1, 1, 2])):
            factors = []
            summed = draw.sample([v for v in "abcdefg" if v not in left], draw.choice([0, 1, 1, 2]))
            for factor in range(draw.choice([1, 2, 2, 2, 3])):
                own = [v for v in left + summed if draw.random() < 0.6][:4]
                factors.append(self.tensor(f"{target}_{term}{factor}", draw.sample(own, len(own))))
            for name, variables in earlier if term == 0 else []:
                factors.append(f"{name}({', '.join(variables)})" if variables else name)
            terms.append(" * ".join(factors))
        self.lines.append(f"{self.tensor(target, left)} = {' + '.join(terms)}")
        return target, left

    def text(self):
        declared = [f"tensor {name}({', '.join(str(self.extents[v]) for v in variables)}): f64" if variables
                    else f"tensor {name}: f64" for name, variables in self.tensors.items()]
        placed = []
        if self.ranks > 1 and self.draw.random() < 0.5:
            grid = GRIDS[self.ranks]
            declared.insert(0, f"machine G = grid({grid})")
            for name, variables in self.tensors.items():
                if variables and self.draw.random() < 0.4:
                    placed.append(self.place(name, variables, grid.count(",") + 1))
        return "\n".join(declared + placed + self.lines) + "\n"

    def place(self, name, variables, order):
        modes = [f"x{m}" for m in range(len(variables))]
        left = list(modes)
        dims = []
        for _ in range(order):
            kind = self.draw.choice(["mode", "mode", "0", "*"])
            if kind == "mode" and left:
                mode = left.pop(self.draw.randrange(len(left)))
                dims.append(self.draw.choice([mode, mode, f"cyclic({mode}, 2)"]))
            else:
                dims.append("0" if kind == "mode" else kind)
        return f"place {name}({', '.join(modes)}) -> G({', '.join(dims)})"


def run_drawn(seed):
    drawn = Draw(seed)
    text = drawn.text()
    ranks = ["-n", str(drawn.ranks)]
    chosen = json.loads(distal(["schedule", "-", *ranks, "--stats=json"], text=text).stdout)
    check(chosen["ranks"] == drawn.ranks, f"{chosen['ranks']} ranks for {drawn.ranks}")
    planned = json.loads(distal(["plan", "-", *ranks, "--shared-memory", "on", "--stats=json"], text=chosen["text"]).stdout)
    # Half of the programs run as they are printed, the others as they were drawn, with --auto, which schedules
    # them in the same way.
    how, program = (["--auto"], text) if seed % 2 else ([], chosen["text"])
    done = distal(["run", "-", *ranks, *how, "--check", "--oversubscribe", "--stats=json"], text=program)
    counted = json.loads(done.stdout[done.stdout.index("{"):])
    for found, plan, ran in zip(chosen["statements"], planned["statements"], counted["statements"], strict=True):
        check(ran["check"]["ok"], f"{ran['target']} is wrong")
        best = found["alternatives"][0]
        for statement, times in ((plan, 1), (ran, ran.get("executions", 1))):
            moved = [sum(t["bytes_received"][r] for t in statement["tensors"].values()) for r in range(drawn.ranks)]
            check(max(moved) == best["bytes"] * times, f"{ran['target']} moves {max(moved)} bytes, not {best['bytes']}")
    again = json.loads(distal(["schedule", "-", *ranks, "--stats=json"], text=chosen["text"]).stdout)
    check(again["text"] == chosen["text"], "what is printed is scheduled differently")


def test_memory_limit(folder):
    """Chunks keep a rank within the limit, as planned and as run."""
    text = ("tensor A(301, 203): f64\ntensor B(301, 151): f64\ntensor C(151, 203): f64\n"
            "A(i, j) = B(i, k) * C(k, j)\n")
    for ranks, limit in ((2, "560K"), (4, "300K"), (6, "210K")):
        options = ["-", "-n", str(ranks), "--memory-limit", limit]
        printed = distal(["schedule", *options], text=text).stdout
        distal(["plan", *options], text=printed)
        check(re.search(r"split\(", printed), f"no chunks on {ranks} ranks")
        distal(["run", *options, "--auto", "--oversubscribe", "--out", f"A={folder}/a.npy"], text=text)
        check(os.path.getsize(f"{folder}/a.npy") > 301 * 203 * 8, "no result")


SLOW_NETWORK = """machine "disks that are faster than the network"
level node 4 memory 64GiB copy 10GB/s latency 0.1us bandwidth 10MB/s
rate gemm 10GFLOP/s
disk read 4GB/s
overhead 0.01us
"""


def run_drawn_disk(folder, seed):
    """Products with tensors in disk, or without placements and a limit that memory does not meet: what is found keeps the limit, reads
    and writes what the table says, and is right."""
    draw = random.Random(seed)
    ranks = draw.choice([1, 2, 3, 4])
    extents = {name: draw.choice([1, 7, 13, 24, 31]) for name in "abcde"}
    left, summed = draw.choice([("ab", "c"), ("abc", "d"), ("a", "b"), ("ab", ""), ("ab", "cd"), ("", "ab")])
    names = list(left + summed)
    operands = [draw.sample(names, draw.randint(1, len(names))) for _ in range(draw.choice([2, 2, 3, 4]))]
    operands[0] += [v for v in names if v not in sum(operands, [])]
    draw.shuffle(operands[0])
    element = draw.choice(["f64", "f32", "c64"])
    tensors = {"A": list(left), **dict(zip("BCDE", operands))}
    access = {name: f"{name}({', '.join(modes)})" if modes else name for name, modes in tensors.items()}
    text = f"machine M = grid({ranks})\n"
    sizes = []
    for name, modes in tensors.items():
        shape = [extents[v] for v in modes]
        sizes.append(math.prod(shape) * {"f64": 8, "f32": 4, "c64": 8}[element])
        text += f"tensor {name}({', '.join(map(str, shape))}): {element}\n" if modes else f"tensor {name}: {element}\n"
    placed = draw.random() < 0.7
    for name, modes in tensors.items() if placed else []:
        if modes and draw.random() < 0.8:
            index = [f"x{m}" for m in range(len(modes))]
            to = draw.choice(index + ["*" if name != "A" else "0", f"cyclic({index[0]}, 3)"])
            text += f"place {name}({', '.join(index)}) -> M({to}) in {draw.choice(['disk', 'disk', 'host'])}\n"
    text += f"{access['A']} = {' * '.join(access[name] for name in list(tensors)[1:])}\n"
    limit = [] if placed and draw.random() < 0.3 else ["--memory-limit", str(max(2000, int(sum(sizes) * draw.uniform(0.3, 1))))]
    if draw.random() < 0.5:
        with open(f"{folder}/slow.machine", "w", encoding="utf-8") as file:
            file.write(SLOW_NETWORK)
        limit += ["--machine", f"{folder}/slow.machine"]
    done = distal(["schedule", "-", "-n", str(ranks), *limit, "--stats=json"], text=text, status=None)
    if done.returncode == 1 and "no schedule was found" in done.stderr:
        check(placed or sum(sizes) < 20000, f"nothing found: {done.stderr}")
        return
    check(done.returncode == 0, done.stderr)
    chosen = json.loads(done.stdout)
    if "--memory-limit" in limit:
        check(chosen["peak_bytes"] <= int(limit[1]), f"{chosen['peak_bytes']} bytes, more than {limit[1]}")
    ran = distal(["run", "-", "-n", str(ranks), "--check", "--oversubscribe", "--stats=json"], text=chosen["text"])
    ran = json.loads(ran.stdout[ran.stdout.index("{"):])["statements"]
    check(len(ran) == len(chosen["statements"]), f"{len(ran)} statements are executed")
    copied = 0
    for statement, found in zip(ran, chosen["statements"]):
        check(statement["check"]["ok"], "a wrong result")
        disk = copied + max(sum(t.get("bytes_read", [0] * ranks)[r] + t.get("bytes_written", [0] * ranks)[r]
                                for t in statement["tensors"].values()) for r in range(ranks))
        copied = 0 if found["alternatives"] else disk  # a copy counts with the statement that it is for
        for best in found["alternatives"][:1]:
            check(disk == best["disk_bytes"], f"{disk} bytes of the disk, not {best['disk_bytes']}")
    if "--memory-limit" in limit:  # the check takes more
        distal(["run", "-", "-n", str(ranks), *limit[:2], "--oversubscribe"], text=chosen["text"])
    again = json.loads(distal(["schedule", "-", "-n", str(ranks), *limit, "--stats=json"], text=chosen["text"]).stdout)
    check(again["text"] == chosen["text"], "what is printed is scheduled differently")


def machine_of(draw, folder):
    """A machine on which other candidates are the best than on the default one: messages cost next to nothing, or much."""
    path = f"{folder}/drawn.machine"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'machine "drawn"\nlevel node 4 memory 64GiB copy {draw.choice([1, 10, 100])}GB/s '
                   f'latency {draw.choice([0.0001, 0.01, 1])}us bandwidth {draw.choice([0.1, 10, 1000])}GB/s\n'
                   f'rate gemm 10GFLOP/s\nrate sparse {draw.choice([0.001, 0.1, 1])}GFLOP/s\noverhead 0.0001us\n')
    return ["--machine", path]


def moved_bytes(statement, ranks):
    return max(sum(t["bytes_received"][r] for t in statement["tensors"].values()) for r in range(ranks))


def run_drawn_sparse(folder, seed):
    """Statements of sparse_statements.txt, of drawn formats and entries, some with placements: what is found moves what the table
    says, as planned and as run, and is right."""
    draw = random.Random(seed)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "sparse_statements.txt"), encoding="utf-8") as file:
        lines = [line for line in file if line.strip() and line[0] not in "#=" and line.count("|") < 2]
    case = SparseCase(draw.choice(lines), "", draw.choice(["f64", "f32", "i64"]), draw)
    ranks = draw.choice([1, 2, 3, 4, 6])
    options = ["-n", str(ranks)]
    sparse = [name for name in case.sparse if name in case.inputs]
    known = draw.random() < 0.8
    inputs = [word for number, name in enumerate(sparse) if known
              for word in ("--in", f"{name}=random:{number + seed}:{draw.choice([0, 0.02, 0.1, 0.5])}")]
    declared, statements = [], []
    for line in case.program(draw).splitlines():
        (declared if line.startswith("tensor") else statements).append(line)
    if draw.random() < 0.4:
        declared.insert(0, f"machine G = grid({ranks})")
        for name, shape in case.shapes.items():
            modes = [f"x{m}" for m in range(len(shape))]
            own = [f"weighted({modes[0]})"] if name in sparse else []
            if shape and draw.random() < 0.4:
                declared.append(f"place {name}({', '.join(modes)}) -> G({draw.choice([modes[-1], modes[0], '0', *own])})")
    text = "\n".join(declared + statements) + "\n"
    how = [*options, *machine_of(draw, folder)]
    chosen = json.loads(distal(["schedule", "-", *how, *inputs, "--stats=json"], text=text).stdout)
    # Without sources all elements of sparse inputs would be drawn.
    inputs = inputs or [word for name in sparse for word in ("--in", f"{name}=random:7:0.1")]
    planned = json.loads(distal(["plan", "-", *options, *inputs, "--shared-memory", "on", "--stats=json"],
                                text=chosen["text"]).stdout)
    automatic = known and seed % 2
    done = distal(["run", "-", *(how if automatic else options), *inputs, *(["--auto"] if automatic else []), "--check",
                   "--oversubscribe", "--stats=json"], text=text if automatic else chosen["text"])
    counted = json.loads(done.stdout[done.stdout.index("{"):])
    for found, plan, ran in zip(chosen["statements"], planned["statements"], counted["statements"], strict=True):
        check(ran["check"]["ok"], f"{ran['target']} is wrong")
        best, least = found["alternatives"][0], min(a["seconds"] for a in found["alternatives"])
        check(best["seconds"] <= 1.1 * least, f"{ran['target']}: {best['seconds']} s, though {least} s was found")
        # What depends on the entries of an operand that is computed is not planned.
        unknown = any(t["bytes_received"] is None for t in plan["tensors"].values())
        if known and not unknown and len(found["alternatives"][0]["where"]) > 0:
            check(moved_bytes(plan, ranks) == best["bytes"], f"{moved_bytes(plan, ranks)} bytes are planned, not {best['bytes']}")
            check(moved_bytes(ran, ranks) == best["bytes"], f"{moved_bytes(ran, ranks)} bytes are moved, not {best['bytes']}")
    again = json.loads(distal(["schedule", "-", *how, *(inputs if known else []), "--stats=json"], text=chosen["text"]).stdout)
    check(again["text"] == chosen["text"], "what is printed is scheduled differently")


def test_deterministic(_):
    """The same program and options give the same text."""
    for seed in range(3):
        drawn = Draw(seed)
        text, options = drawn.text(), ["schedule", "-", "-n", str(drawn.ranks)]
        first = distal(options, text=text).stdout
        check(all(distal(options, text=text).stdout == first for _ in range(3)), "another result")


def main():
    stay()
    cases = functions_named_test("schedule", globals())
    cases += [(f"schedule/drawn_{seed}", lambda _, seed=seed: run_drawn(seed)) for seed in range(DRAWS)]
    cases += [(f"schedule/drawn_disk_{seed}", lambda folder, seed=seed: run_drawn_disk(folder, seed)) for seed in range(DRAWS)]
    cases += [(f"schedule/drawn_sparse_{seed}", lambda folder, seed=seed: run_drawn_sparse(folder, seed)) for seed in range(DRAWS)]
    return run_cases(cases)


if __name__ == "__main__":
    sys.exit(main())
