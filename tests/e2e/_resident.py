# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that stay for all runs of a test file: starting ranks takes most of the time of a small run. The command starts
`tests/order` as its launcher, which has them execute the run (tests/support/resident.c); all else is as with mpirun."""
import os
import shutil
import socket
import subprocess
import tempfile
import threading

FOLDER = os.path.join(os.path.dirname(os.path.abspath(os.environ.get("DISTAL", "build/distal"))), "tests")
LIMIT_SECONDS = 60
# What may differ between the runs of the same ranks: the command reads these each time.
READ_EACH_TIME = {"DISTAL_CC", "DISTAL_CFLAGS", "DISTAL_CC_TIMEOUT", "DISTAL_DRAFTS", "DISTAL_GPU", "DISTAL_GPU_MEMORY", "DISTAL_GPU_MPI",
                  "DISTAL_GPU_NCCL", "DISTAL_MPIRUN", "DISTAL_TEST", "PWD", "OLDPWD", "TMPDIR", "XDG_CACHE_HOME"}


class Ranks:
    """Ranks that are started with an environment, and execute one run after the other."""

    def __init__(self, count, environment, launcher):
        self.lock = threading.Lock()
        self.folder = tempfile.mkdtemp(prefix="distal-ranks-")
        paths = [f"{self.folder}/{rank}" for rank in range(count)]
        for path in paths:
            os.mkfifo(path)
        self.orders = [os.open(path, os.O_RDWR | os.O_CLOEXEC) for path in paths]
        self.process = subprocess.Popen([*launcher, "-n", str(count), f"{FOLDER}/resident", self.folder], env=environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def execute(self, process):
        """The status of a run; None if the ranks have ended."""
        with self.lock:
            for order in self.orders:
                os.write(order, f"{process}\n".encode())
            line = self.process.stdout.readline()
            return int(line) if line else None

    def end(self):
        """Lets the ranks end; what is wrong with that, "" if nothing is."""
        for order in self.orders:
            os.close(order)
        try:
            _, said = self.process.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            _, said = self.process.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)
        return f"{self.process.args[0]} ended with {self.process.returncode}: {said}" if self.process.returncode else ""


class Residents:
    """Listens to `order`, and starts the ranks that are asked for."""

    def __init__(self):
        self.launcher = os.environ.get("DISTAL_MPIRUN", "mpirun").split()
        self.ranks = {}
        self.lock = threading.Lock()
        self.folder = tempfile.mkdtemp(prefix="distal-residents-")
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(f"{self.folder}/socket")
        self.socket.listen()
        threading.Thread(target=self.listen, daemon=True).start()
        self.environment = {"DISTAL_MPIRUN": f"{FOLDER}/order {self.folder}/socket"}

    def listen(self):
        while True:
            peer, _ = self.socket.accept()
            threading.Thread(target=self.answer, args=(peer,), daemon=True).start()

    def answer(self, peer):
        with peer:
            process = int(peer.makefile().readline())
            with open(f"/proc/{process}/cmdline", encoding="utf-8", errors="surrogateescape") as file:
                words = file.read().split("\0")
            with open(f"/proc/{process}/environ", encoding="utf-8", errors="surrogateescape") as file:
                environment = dict(line.split("=", 1) for line in file.read().split("\0") if "=" in line)
            if "DISTAL_LAUNCHED" not in environment:  # a run that has been started by a launcher of the test
                peer.sendall((" ".join(self.launcher) + "\n").encode())
                return
            count = int(words[words.index("-n") + 1])
            key = (count, frozenset((name, value) for name, value in environment.items() if name not in READ_EACH_TIME))
            with self.lock:
                if key not in self.ranks:
                    self.ranks[key] = Ranks(count, environment, self.launcher)
                ranks = self.ranks[key]
            status = ranks.execute(process)
            if status is None:  # other ranks execute what comes after
                with self.lock:
                    self.ranks.pop(key, None)
                print(ranks.end(), flush=True)
                status = 1
            peer.sendall(f"{status}\n".encode())

    def end(self):
        """Lets all ranks end; what is wrong with that, "" if nothing is."""
        wrong = "\n".join(filter(None, [ranks.end() for ranks in self.ranks.values()]))
        shutil.rmtree(self.folder, ignore_errors=True)
        return wrong


residents = []  # one at most


def environment():
    """That of a run on such ranks; with a command that is not beside the tests, of one that starts its own."""
    if not residents and os.path.exists(f"{FOLDER}/resident"):
        residents.append(Residents())
    return residents[0].environment if residents else {}


def end():
    return residents.pop().end() if residents else ""
