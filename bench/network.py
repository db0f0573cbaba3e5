#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times distributed matrix products on slow networks, on 4 and 9 ranks. Each rank is in a network namespace of its own,
whose link to a bridge has a limited rate (tc, tbf), such that the communication of SUMMA takes from a quarter to twice the
time of its computing. Beside distal is ScaLAPACK's pdgemm. Printed are the time; the bytes that all links carried, divided
by those of the plan; the time of computing alone, which is that of the same products where every operand is at home; of
communication alone, where the BLAS computes nothing; and the overlap, (computing + communication - time) / the smaller of
the two. Results are compared before they are timed. Namespaces need root and iproute2."""
import dataclasses
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile

import report

ADDRESS = "10.77.0."
PREFIX = f"distal{os.getpid()}-"
# The rate of a link, as communication takes this many times the time of computing.
SHARES = (0.25, 0.5, 1, 2)
FREE_RATE = 1250  # megabytes a second, of links that are not to be slow


@dataclasses.dataclass
class Algorithm:
    example: str
    params: dict  # by number of ranks; CHUNK: columns of B that are broadcast at a time, TILE_CHUNK: of one tile


ALGORITHMS = {
    "SUMMA": Algorithm("summa", {4: "gx=2 gy=2 chunk=CHUNK", 9: "gx=3 gy=3 chunk=CHUNK"}),
    "interleaved": Algorithm("summa_interleaved", {4: "gx=2 gy=2 chunk=TILE_CHUNK", 9: "gx=3 gy=3 chunk=TILE_CHUNK"}),
    "Cannon": Algorithm("cannon", {4: "g=2", 9: "g=3"}),
    "Johnson": Algorithm("johnson", {4: "gx=2 gy=1 gz=2", 9: "gx=3 gy=1 gz=3"}),
}
# The products of one rank, whose operands are at home.
ALONE = """
param n = 1, p = 1, g = 1, b = (n + g - 1) / g, chunk = 1
machine M = grid(p)
tensor A(p, b, b): f64
tensor B(p, b, n): f64
tensor C(p, n, b): f64
place A(r, x, y) -> M(r)
place B(r, x, y) -> M(r)
place C(r, x, y) -> M(r)
A(r, i, j) = B(r, i, k) * C(r, k, j)
schedule A {
  distribute({r}, {ro}, {ri}, M)
  split(k, ko, ki, chunk)
  reorder({ko, ri, i, j, ki})
  communicate(A, ro)
  communicate({B, C}, ko)
}
"""


class Unavailable(Exception):
    pass


def command(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Unavailable(f"{' '.join(words[:4])}: {done.stderr.strip()}")
    return done.stdout


class Network:
    """A namespace for each rank, and one with the bridge between them."""

    def __init__(self, ranks, folder):
        self.ranks, self.spaces = ranks, []
        self.hosts, self.agent = f"{folder}/hosts{ranks}", f"{folder}/agent"
        try:
            self.create()
        except FileNotFoundError as error:
            raise Unavailable(f"{error.filename} is missing") from error
        except Unavailable:
            self.remove()
            raise
        with open(self.hosts, "w", encoding="utf-8") as file:
            file.writelines(f"{ADDRESS}{rank + 1} slots=1\n" for rank in range(ranks))
        # In place of ssh. Open MPI takes processes of one host name for neighbours, so each has another one.
        with open(self.agent, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nspace={PREFIX}$((${{1##*.}} - 1)); shift\n'
                       'exec ip netns exec "$space" unshare --uts sh -c "hostname $space; $*"\n')
        os.chmod(self.agent, 0o700)

    def add_space(self, name):
        command("ip", "netns", "add", PREFIX + name)
        self.spaces.append(PREFIX + name)
        command("ip", "-n", PREFIX + name, "link", "set", "lo", "up")
        return PREFIX + name

    def create(self):
        bridge = self.add_space("bridge")
        command("ip", "-n", bridge, "link", "add", "switch", "type", "bridge")
        command("ip", "-n", bridge, "addr", "add", f"{ADDRESS}254/24", "dev", "switch")
        command("ip", "-n", bridge, "link", "set", "switch", "up")
        for rank in range(self.ranks):
            space = self.add_space(str(rank))
            command("ip", "link", "add", "uplink", "netns", space, "mtu", "9000", "type", "veth",
                    "peer", "name", f"port{rank}", "netns", bridge, "mtu", "9000")
            command("ip", "-n", bridge, "link", "set", f"port{rank}", "master", "switch", "up")
            command("ip", "-n", space, "addr", "add", f"{ADDRESS}{rank + 1}/24", "dev", "uplink")
            command("ip", "-n", space, "link", "set", "uplink", "up")
        self.limit(FREE_RATE)

    def limit(self, rate):
        """Both directions of each link, in megabytes a second."""
        for rank in range(self.ranks):
            for space, device in (PREFIX + str(rank), "uplink"), (PREFIX + "bridge", f"port{rank}"):
                command("tc", "-n", space, "qdisc", "replace", "dev", device, "root", "tbf",
                        "rate", f"{round(8e6 * rate)}bit", "burst", "256kb", "limit", "64mb")

    def carried(self):
        """Bytes that the ranks have sent."""
        links = json.loads(command("ip", "-n", PREFIX + "bridge", "-s", "-j", "link"))
        return sum(link["stats64"]["rx"]["bytes"] for link in links if link["ifname"].startswith("port"))

    def run(self, words, preload=None, text=None):
        """What a program prints on one rank in each namespace, and the bytes that it sent."""
        before = self.carried()
        export = ["-x", f"LD_PRELOAD={preload}"] if preload else []
        done = subprocess.run(
            ["ip", "netns", "exec", PREFIX + "bridge", "unshare", "--uts", "sh", "-c",
             f'hostname {PREFIX}bridge; exec "$@"', "sh", "mpirun", "-n", str(self.ranks), "--hostfile", self.hosts,
             "--mca", "plm_rsh_agent", self.agent, "--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
             "--mca", "btl_tcp_if_include", "uplink", "--mca", "oob_tcp_if_include", f"{ADDRESS}0/24",
             "--mca", "mpi_yield_when_idle", "1", "--bind-to", "none", "-x", "OMP_NUM_THREADS=1", "-x", "DISTAL_WAIT=sleep", *export,
             *words], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(words)}\n{done.stderr}")
        return done.stdout, self.carried() - before

    def remove(self):
        for space in self.spaces:
            subprocess.run(["ip", "netns", "del", space], check=False)
        self.spaces = []


@dataclasses.dataclass
class Run:
    seconds: float
    carried: float  # bytes of an execution
    planned: float
    most: float  # bytes that the rank receives that receives most, or sends to be reduced


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.distal = os.path.join(report.build_folder(options), "distal")
        self.no_gemm = f"{folder}/no_gemm.so"
        blas = subprocess.run(["pkg-config", "--cflags", "openblas"], stdout=subprocess.PIPE, text=True, check=False).stdout.split()
        if not report.compile_c(["mpicc", "-O2", "-shared", "-fPIC", *blas], "no_gemm.c", self.no_gemm):
            raise Unavailable("mpicc")
        self.pdgemm = f"{folder}/pdgemm"
        if not report.compile_c(["mpicc", "-O2"], "network_pdgemm.c", self.pdgemm, ["-lscalapack-openmpi", "-lm"]):
            self.pdgemm = None

    def run_distal(self, network, program, params, preload=None, check=False):
        words = [self.distal, "run", program, "-q", "--threads", "1", "--stats=json", "--shared-memory", "off",
                 "--pipeline", "on"]
        for param in params.split():
            words += ["-p", param]
        repeat = 1 if check else self.options.repeat
        words += ["--check"] if check else ["--warmup", "1", "--repeat", str(repeat)]
        printed, carried = network.run(words, preload)
        statement = json.loads(printed)["statements"][0]
        received = [sum(of) for of in zip(*(tensor["bytes_received"] for tensor in statement["tensors"].values()))]
        return Run(statement["seconds"]["median"], carried / (repeat + 1), sum(received), max(received))

    def run_pdgemm(self, network, block, preload=None, check=False):
        rows = math.isqrt(network.ranks)
        repeat = 1 if check else self.options.repeat
        n = 200 if check else self.options.extent
        words = [self.pdgemm, n, min(block, n // rows), rows, repeat, int(check)]
        printed, carried = network.run(list(map(str, words)), preload)
        return Run(statistics.median(map(float, printed.split())), carried / (repeat + 1), 0, 0)

    def computing(self, network):
        """The seconds of the products alone."""
        side = math.isqrt(network.ranks)
        path = f"{self.folder}/alone.distal"
        with open(path, "w", encoding="utf-8") as file:
            file.write(ALONE)
        params = f"n={self.options.extent} p={network.ranks} g={side} chunk={self.options.chunk}"
        return self.run_distal(network, path, params).seconds

    def measure(self, table, network):
        n, ranks = self.options.extent, network.ranks
        chosen = {}
        for name, algorithm in ALGORITHMS.items():
            program = os.path.join(report.ROOT, "examples", algorithm.example + ".distal")
            params = algorithm.params[ranks].replace("TILE_CHUNK", str(self.options.chunk // math.isqrt(ranks)))
            params = params.replace("CHUNK", str(self.options.chunk))
            self.run_distal(network, program, f"n=60 {params}", check=True)
            chosen[name] = lambda preload=None, program=program, params=f"n={n} {params}": \
                self.run_distal(network, program, params, preload)
        if self.pdgemm:
            self.run_pdgemm(network, self.options.block, check=True)
            chosen["pdgemm"] = lambda preload=None: self.run_pdgemm(network, self.options.block, preload)
        computing = self.computing(network)
        most = chosen["SUMMA"]().most
        for share in self.options.share:
            rate = most / (share * computing) * 1e-6
            network.limit(rate)
            for name, run in chosen.items():
                whole, communication = run(), run(self.no_gemm).seconds
                overlap = (computing + communication - whole.seconds) / min(computing, communication)
                table.row(algorithm=name, ranks=ranks, share=share, rate=rate, time=1e3 * whole.seconds,
                          computing=1e3 * computing, communication=1e3 * communication, overlap=overlap,
                          megabytes=whole.carried * 1e-6,
                          to_plan=whole.carried / whole.planned if whole.planned else None)
            network.limit(FREE_RATE)


def main():
    parser = report.parser(__doc__, 3)
    parser.add_argument("--extent", type=int, default=None, help="of the matrices (default: 3072, quick: 2304)")
    parser.add_argument("--chunk", type=int, default=192, help="columns of B that SUMMA broadcasts at a time (default: 192)")
    parser.add_argument("--block", type=int, default=128, help="of the layout of pdgemm (default: 128)")
    parser.add_argument("--ranks", type=int, nargs="*", choices=(4, 9), default=None, help="default: 4 and 9, quick: 4")
    parser.add_argument("--share", type=float, nargs="*", default=None,
                        help=f"of communication, in times of computing (default: {SHARES}, quick: 1)")
    options = report.parse(parser)
    options.extent = options.extent or (2304 if options.quick else 3072)
    options.ranks = options.ranks or ([4] if options.quick else [4, 9])
    options.share = options.share or ([1] if options.quick else SHARES)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # as after an interrupt, namespaces are removed
    table = report.Report("network", options, {"algorithm": 11, "ranks": 5, "share": 5},
                          {"rate": ".1f", "time": ".1f", "computing": ".1f", "communication": ".1f", "overlap": ".2f",
                           "megabytes": ".1f", "to_plan": ".3f"}, ["overlap"], 0.8)
    with tempfile.TemporaryDirectory(prefix="distal-bench-") as folder:
        try:
            bench = Bench(options, folder)
            table.note("extent", options.extent, f"matrices of {options.extent}; rates in MB/s, times in milliseconds")
            for ranks in options.ranks:
                network = Network(ranks, folder)
                try:
                    bench.measure(table, network)
                finally:
                    network.remove()
        except Unavailable as error:
            print(f"network: skipped, as there are no network namespaces: {error}")
            return 0
    table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
