#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs and commands that README.md and docs/*.md show, and compares what they show with what comes out.

A block ```distal NAME holds a program, which has to pass `distal check` and lies as NAME (default: program.distal) where
the commands of the document run, beside examples/. A comment `<!-- NAME: the program above with 'OLD' as 'NEW' -->`, or
one with the name of another program of the document, makes another one, which need not pass. A block ```console holds
lines `$ distal ...`, each followed by its output on both streams; a line `...` stands for any lines, and figures that change from run to run are not compared. A block ```python NAME is a script
that has to end without an error. What the documents show of
schedule commands has to be what `distal help` knows: a section for each, with the program that help shows.

Prints `ok NAME` or `FAIL NAME: why` for each case. With --update, output without `...` is rewritten to what comes out.
"""
import difflib
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

import numpy

DISTAL = os.path.abspath(os.environ.get("DISTAL", "build/distal"))
SOURCE = os.environ.get("DISTAL_SOURCE", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
LIMIT_SECONDS = 120
FIGURES = [r"(?<=max relative error )[-+.e0-9]+", r"\S+(?= seconds)", r"\S+(?= GFLOP/s)",
           r"(?<=\.[0-9]{12})[0-9]+"]  # the last digits of a sum depend on the width of vectors


class Failure(Exception):
    """Something is not as the documents show it."""


def check(condition, why):
    if not condition:
        raise Failure(why)


def distal(arguments, folder, variables=()):
    done = subprocess.run([DISTAL, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, cwd=folder, timeout=LIMIT_SECONDS, check=False,
                          env={**os.environ, **dict(variables)})
    return done.returncode, done.stdout.decode(errors="backslashreplace")


def masked(text):
    for figure in FIGURES:
        text = re.sub(figure, "#", text)
    return text


def compare(shown, actual):
    """Raises where the lines that are shown do not match."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in masked(shown).splitlines())
    if not re.fullmatch(pattern, masked(actual)):
        difference = difflib.unified_diff(shown.splitlines(), actual.splitlines(), "shown", "actual", lineterm="")
        raise Failure("what comes out is not what is shown\n    " + "\n    ".join(difference))


class Document:
    """One file: its cases in order, run in a folder of their own."""

    def __init__(self, path, folder, update):
        self.name = os.path.basename(path)
        self.folder = folder
        self.update = update
        self.failed = 0
        with open(path, encoding="utf-8") as file:
            self.lines = file.read().splitlines()
        self.programs = {}

    def case(self, title, run):
        try:
            run()
            print(f"ok docs/{title}", flush=True)
        except (Failure, subprocess.TimeoutExpired, OSError) as error:
            self.failed += 1
            print(f"FAIL docs/{title}: {error}", flush=True)

    def run(self):
        """Goes through the blocks; what --update changes is in self.lines afterwards."""
        at = 0
        while at < len(self.lines):
            line = self.lines[at]
            variant = re.fullmatch(r"<!-- (\S+): (the program above|\S+) with '(.*)' as '(.*)' -->", line)
            if variant:
                self.case(f"{self.name}:{at + 1} {variant[1]}", lambda parts=variant.groups(): self.vary(*parts))
            if not line.startswith("```"):
                at += 1
                continue
            end = self.lines.index("```", at + 1)
            info = line[3:].split()
            if info[:1] == ["distal"]:
                name = info[1] if len(info) > 1 else "program.distal"
                self.case(f"{self.name}:{at + 1} {name}", lambda body=self.lines[at + 1:end]: self.take(name, body))
            elif info[:1] == ["python"]:
                self.case(f"{self.name}:{at + 1} {info[1]}", lambda body=self.lines[at + 1:end]: self.script(info[1], body))
            elif info == ["console"]:
                end = self.console(at + 1, end)
            at = end + 1

    def write(self, name):
        with open(f"{self.folder}/{name}", "w", encoding="utf-8") as file:
            file.write(self.programs[name])

    def take(self, name, body):
        self.programs[name] = self.programs["the program above"] = "\n".join(body) + "\n"
        self.write(name)
        status, output = distal(["check", "-q", name], self.folder)
        check(status == 0 and not output, f"distal check {name} ends with {status}: {output}")

    def script(self, name, body):
        """Runs a program in Python, which ends with status 0 where what the document says of it holds."""
        done = subprocess.run([sys.executable, "-c", "\n".join(body)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, cwd=self.folder, timeout=LIMIT_SECONDS, check=False)
        check(done.returncode == 0, f"{name} ends with {done.returncode}: {done.stdout.decode(errors='backslashreplace')}")

    def vary(self, name, of, old, new):
        check(self.programs.get(of, "").count(old) == 1, f"'{old}' does not stand once in {of}")
        self.programs[name] = self.programs["the program above"] = self.programs[of].replace(old, new)
        self.write(name)

    def console(self, first, end):
        """Runs the commands of a block; returns where it ends now."""
        starts = [at for at in range(first, end) if self.lines[at].startswith("$ ")] + [end]
        new = []
        for at, following in zip(starts, starts[1:]):
            command, shown = self.lines[at][2:], self.lines[at + 1:following]
            new += [self.lines[at]]
            new += self.shown_or_new(at, command, shown)
        self.lines[first:end] = new
        return first + len(new)

    def shown_or_new(self, at, command, shown):
        result = shown

        def run():
            nonlocal result
            words, variables = shlex.split(command), []
            while "=" in words[0]:
                variables.append(words.pop(0).split("=", 1))
            check(words[0] in ("distal", "build/distal"), "not a command that this test runs")
            status, output = distal(words[1:], self.folder, variables)
            check((status != 0) == ("error:" in output), f"it ends with {status}: {output}")
            if self.update and "..." not in shown:
                result = output.splitlines()
            else:
                compare("".join(line + "\n" for line in shown), output)

        self.case(f"{self.name}:{at + 1} {command}", run)
        return result


def sections(path):
    """The text below each heading `## NAME`."""
    with open(path, encoding="utf-8") as file:
        parts = re.split(r"^## (.*)\n", file.read(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def check_command(name, section):
    status, text = distal(["help", name], SOURCE)
    check(status == 0, f"distal help {name}: {text}")
    check(section is not None, "docs/schedule.md has no section about it")
    check(f"`{text.splitlines()[0]}`" in section, f"its section does not show `{text.splitlines()[0]}`")
    example = re.search(r"\nexample:\n((?:  .*\n)+)", text)
    check(example or "not supported yet" in text, "help shows no example")
    program = re.sub(r"^  ", "", example[1], flags=re.MULTILINE) if example else ""
    check(program in section, "the example of help does not stand in its section")


def check_topic(name):
    """What help on a topic shows is a program, in lines that fit into a terminal."""
    status, text = distal(["help", name], SOURCE)
    check(status == 0 and text, f"distal help {name}: {text}")
    if name not in ("man-page", "bash-completion"):
        check(all(len(line) <= 104 for line in text.splitlines()), "a line is too long")
    example = re.search(r"\nexample:\n((?:  .*\n)+)", text)
    if example:
        status, text = distal(["check", "-e", re.sub(r"^  ", "", example[1], flags=re.MULTILINE)], SOURCE)
        check(status == 0 and text in ("", "distal: note: the program has no statement\n"), f"distal check ends with {status}: {text}")


def main():
    update = "--update" in sys.argv[1:]
    failed = 0
    for path in sorted([f"{SOURCE}/README.md", *glob.glob(f"{SOURCE}/docs/*.md")]):
        with tempfile.TemporaryDirectory(prefix="distal-docs-") as folder:
            os.symlink(f"{SOURCE}/examples", f"{folder}/examples")
            for name in ("B", "C"):  # the user's own files
                numpy.save(f"{folder}/{name}.npy", numpy.random.default_rng(1).standard_normal((1024, 1024)))
            document = Document(path, folder, update)
            before = list(document.lines)
            document.run()
            failed += document.failed
            if document.lines != before:
                with open(path, "w", encoding="utf-8") as file:
                    file.write("\n".join(document.lines) + "\n")
    known = re.search(r"\nschedule commands:\n((?:  .*\n)+)", distal(["help"], SOURCE)[1])
    commands = re.findall(r"^  (\w+)\(", known[1], flags=re.MULTILINE) if known else []
    if not commands:
        failed += 1
        print("FAIL docs/help: no schedule commands in distal help")
    topics = re.search(r"\ntopics:\n((?:  .*\n)+)", distal(["help"], SOURCE)[1])
    topics = re.findall(r"^  (\S+)", topics[1], flags=re.MULTILINE) if topics else []
    if "place" not in topics:
        failed += 1
        print("FAIL docs/help: no topics in distal help")
    for name in topics:
        try:
            check_topic(name)
            print(f"ok docs/topic {name}")
        except Failure as error:
            failed += 1
            print(f"FAIL docs/topic {name}: {error}")
    shown = sections(f"{SOURCE}/docs/schedule.md")
    for name in commands:
        try:
            check_command(name, shown.get(name))
            print(f"ok docs/schedule command {name}")
        except Failure as error:
            failed += 1
            print(f"FAIL docs/schedule command {name}: {error}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
