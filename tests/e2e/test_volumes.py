#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What plan says of the examples against the formulas of the literature, where the grid divides the extents: the
pattern of each tensor, and the elements that each rank receives (for `reduce`: sends).

Prints `ok NAME` or `FAIL NAME: why` for each case."""
import itertools
import json
import sys

from _common import check, distal, example, params, run_cases, stay

N = 240
BYTES = 8


def grid(*sizes):
    return list(itertools.product(*map(range, sizes)))


def nothing(ranks):
    return [0] * len(ranks)


def square(g, b, c):
    """Two-dimensional algorithms on g x g, or on nodes of cores, g along each side: all of a row of B and of a column
    of C but the own tile."""
    volume = [(g - 1) * (N // g) ** 2] * g**2
    return {"A": ("local", [0] * g**2), "B": (b, volume), "C": (c, volume)}


def summa(gx, gy):
    ranks, row, column = grid(gx, gy), (N // gx) * (N - N // gy), (N - N // gx) * (N // gy)
    return {"A": ("local", nothing(ranks)), "B": ("broadcast" if gy > 1 else "local", [row] * len(ranks)),
            "C": ("broadcast" if gx > 1 else "local", [column] * len(ranks))}


def johnson(c):
    tile = (N // c) ** 2
    return {"A": ("reduce", [tile * (z != 0) for x, y, z in grid(c, c, c)]),
            "B": ("broadcast", [tile * (y != 0) for x, y, z in grid(c, c, c)]),
            "C": ("broadcast", [tile * (x != 0) for x, y, z in grid(c, c, c)])}


def johnson_rows(c, p):
    """A tile of A has its home in layer 0, one of B where y is 0, one of C where x is 0; a core has 1 / p of each."""
    tile = (N // c) ** 2
    ranks = grid(c, c, c, p)
    return {"A": ("reduce", [tile // p * (z != 0) for x, y, z, core in ranks]),
            "B": ("broadcast", [tile // p * (y != 0) for x, y, z, core in ranks]),
            # The cores of the nodes with x = 0 own a tile together, and all cores of these columns take it.
            "C": ("all-gather" if p > 1 else "broadcast", [tile - tile // p * (x == 0) for x, y, z, core in ranks])}


def solomonik(g, c):
    """Layer z uses the g / c tiles of its share of k, in an order of its own; on layer 0 one of them may be at home."""
    steps, tile = g // c, (N // g) ** 2
    ranks = grid(g, g, c)
    tiles = {rank: [rank[2] * steps + t for t in range(steps)] for rank in ranks}
    return {"A": ("reduce", [tile * (z != 0) for x, y, z in ranks]),
            "B": ("shift", [tile * sum((k, z) != (y, 0) for k in tiles[x, y, z]) for x, y, z in ranks]),
            "C": ("shift", [tile * sum((k, z) != (x, 0) for k in tiles[x, y, z]) for x, y, z in ranks])}


def mttkrp(gx, gy, gz, columns):
    ranks = grid(gx, gy, gz)
    return {"A": ("reduce", [N // gx * columns * ((y, z) != (0, 0)) for x, y, z in ranks]),
            "B": ("local", nothing(ranks)),
            "C": ("broadcast", [N // gy * columns * ((x, z) != (0, 0)) for x, y, z in ranks]),
            "D": ("broadcast", [N // gz * columns * ((x, y) != (0, 0)) for x, y, z in ranks])}


def coupled_cluster(g, n):
    volume = [(g - 1) * (n // g) ** 2 * n**2] * g**2
    return {"A": ("local", [0] * g**2), "B": ("shift", volume), "C": ("shift", volume)}


# Example, params beside n, what each tensor costs.
CASES = [
    ("cannon", "g=2", square(2, "shift", "shift")),
    ("cannon", "g=5", square(5, "shift", "shift")),
    ("pumma", "g=3", square(3, "broadcast", "shift")),
    ("pumma", "g=4", square(4, "broadcast", "shift")),
    ("summa", "gx=4 gy=4 chunk=60", summa(4, 4)),
    ("summa", "gx=2 gy=3 chunk=40", summa(2, 3)),
    ("summa", "gx=5 gy=1 chunk=48", summa(5, 1)),
    ("summa", "gx=4 gy=3 chunk=17", summa(4, 3)),
    ("summa_interleaved", "gx=4 gy=4 chunk=20", summa(4, 4)),
    ("summa_interleaved", "gx=2 gy=3 chunk=16", summa(2, 3)),
    ("johnson", "c=2", johnson(2)),
    ("johnson", "c=4", johnson(4)),
    ("summa_cannon", "gx=2 gy=2 c=2", square(4, "shift", "shift")),
    ("summa_cannon", "gx=3 gy=3 c=2", square(6, "shift", "shift")),
    ("cannon_summa", "g=2 cx=2 cy=2 chunk=60", square(4, "broadcast", "broadcast")),
    ("cannon_summa", "g=2 cx=3 cy=3 chunk=20", square(6, "broadcast", "broadcast")),
    ("johnson_rows", "c=2 gz=2 p=1", johnson_rows(2, 1)),
    ("johnson_rows", "c=2 gz=2 p=3", johnson_rows(2, 3)),
    ("solomonik", "g=4 c=2", solomonik(4, 2)),
    ("solomonik", "g=6 c=3", solomonik(6, 3)),
    ("ttv", "n=24 gx=2 gy=3", {name: ("local", [0] * 6) for name in "ABc"}),
    ("innerprod", "n=24 gx=2 gy=2", {"B": ("local", [0] * 4), "C": ("local", [0] * 4)}),
    ("ttm", "n=24 p=6", {name: ("local", [0] * 6) for name in "ABC"}),
    ("mttkrp", "r=10 gx=2 gy=3 gz=4", mttkrp(2, 3, 4, 10)),
    ("coupled_cluster", "n=12 gx=3 gy=3", coupled_cluster(3, 12)),
    ("adapted", "p=4", {"A": ("local", [0] * 4), "B": ("local", [0] * 4), "c": (None, [N - N // 4] * 4)}),
    ("adapted_columns", "p=4", {name: ("local", [0] * 4) for name in "ABc"}),
    ("redistribute", "p=4", {"A": ("local", [0] * 4), "B": ("exchange", [(N // 4) * (N - N // 4)] * 4)}),
]


def run_case(name, values, expected):
    planned = distal(["plan", example(name), *params(f"n={N} {values}"), "--stats=json"])
    tensors = json.loads(planned.stdout)["statements"][0]["tensors"]
    for tensor, (pattern, elements) in expected.items():
        got = tensors[tensor]
        check(not pattern or got["pattern"] == pattern, f"{tensor} is {got['pattern']}, expected {pattern}")
        bytes_received = [BYTES * count for count in elements]
        check(got["bytes_received"] == bytes_received,
              f"{tensor} moves {got['bytes_received']} bytes, expected {bytes_received}")


def main():
    stay()
    return run_cases([(f"volumes/{name} {values}", lambda _, case=(name, values, expected): run_case(*case))
                      for name, values, expected in CASES])


if __name__ == "__main__":
    sys.exit(main())
