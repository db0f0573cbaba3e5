#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Looks for diagnostics that no test expects, so that a new one is noticed.

A message is found by its text in the sources. A golden case shows all of it; what a golden case cannot bring about
(calls of the library, lack of memory, a launcher that fails) another test has to look for, by enough of its text to
tell it from others.
Prints `ok golden/coverage`, or `FAIL golden/coverage: ...` and the messages."""
import functools
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Functions that take a message, as a format or as a part of one.
CALLS = ("diagnostics_error", "diagnostics_note", "refuse", "invalid", "fail", "wrong", "expected")
# What these find is a mistake in the compiler itself; tests/unit hands them broken structures.
VERIFIERS = {"src/index/cin_verify.c", "src/loop/verify.c", "src/plan/verify.c", "src/spmd/verify.c"}
SHORTEST = 7  # letters; what has fewer is a name or a word that is put into a message

# Parts of messages that no test brings about or tells from another, with the reason.
GUARD = "passes before have refused it: a schedule command, the parser, the check of values"
MEMORY = "tests/mpi/test_api_memory.c lets every allocation fail, whatever is said then"
LATER = "an allocation that is made after one as large has succeeded"
UNTESTED = {
    "out of memory while compiling": MEMORY,
    "out of memory": MEMORY,
    "not enough memory for --check": LATER,
    "not enough memory for a copy of": LATER,
    "not enough memory": MEMORY,
    "cannot use '%s' for tensor %s": MEMORY,
    "could not be made again for new entries": MEMORY,
    "the arrays of tensor '%s' cannot be checked": MEMORY,
    "the entries of tensor %s cannot be divided": MEMORY,
    "it was written to while it was read": "another program has to change the file between two passes over it",
    "internal error: ": "a mistake in the compiler",
    "the program is too long": "it takes a program of 2 GiB",
    "the %s is NULL": "tests/mpi/test_api_errors.c passes NULL everywhere; the text is part of others",
    "the list is empty": GUARD,
    "data moves inside loop": GUARD,
    "is not one of the %d innermost loops": GUARD,
    "a library call replaces it": GUARD,
    "it is distributed": GUARD,
    "data moves inside it": GUARD,
    "has a dimension smaller than 1": GUARD,
    "lies outside of this dimension": GUARD,
    "the extent of mode %d of %s is negative": GUARD,
}


def main():
    os.chdir(ROOT)
    cases = "".join(read(path) for path in glob.glob("tests/golden/cases/**/*.t", recursive=True))
    expected = "\n".join(sorted(set(re.findall(r"(?:error|note|cannot be distributed): (.*)", cases))))
    found = [(path, line, message) for path in sorted(glob.glob("src/**/*.c", recursive=True))
             if path not in VERIFIERS for line, message in messages(path)]
    elsewhere = looked_for({message for _, _, message in found})
    problems, excused = [], set()
    for path, line, message in found:
        if message in elsewhere or re.search(pattern(message), expected):
            continue
        part = next((part for part in UNTESTED if part in message), None)
        excused.add(part)
        if part is None:
            problems.append(f"{path}:{line}: no test expects '{message}'")
    problems += [f"a test expects '{part}', or it is no message" for part in UNTESTED if part not in excused]
    print(f"FAIL golden/coverage: {len(problems)} problems" if problems else "ok golden/coverage")
    for problem in problems:
        print("    " + problem)
    return 1 if problems else 0


def looked_for(all_messages):
    """The messages of which a test has enough in quotes to tell them from all others."""
    paths = [path for folder in ("unit", "mpi", "e2e") for path in glob.glob(f"tests/{folder}/*.[cp]*")]
    strings = re.findall(r'"((?:[^"\\\n]|\\.)*)"', "".join(read(path) for path in paths))
    strings = {string.replace("\\n", "\n") for string in strings if letters(string) >= SHORTEST}
    result = all_messages & strings
    for string in strings:
        result |= only(message for message in all_messages if any(string in part for part in fixed_parts(message)))
    for part in {part for message in all_messages for part in fixed_parts(message) if letters(part) >= SHORTEST}:
        if any(part in string for string in strings):
            result |= only(message for message in all_messages if part in message)
    return result


def only(items):
    items = set(items)
    return items if len(items) == 1 else set()


@functools.cache
def letters(text):
    return len(re.sub("[^A-Za-z]", "", text))


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def messages(path):
    """(line, text) of the strings in the arguments of calls that take a message; %d and the like are still in them."""
    source = read(path)
    for call in re.finditer(rf"\b(?:{'|'.join(CALLS)})\(", source):
        arguments = source[call.end():end_of_call(source, call.end())]
        for string in re.finditer(r'"(?:[^"\\]|\\.)*"(?:\s*(?:"(?:[^"\\]|\\.)*"|PRI\w+))*', arguments):
            pieces = re.findall(r'"((?:[^"\\]|\\.)*)"|(PRI)\w+', string.group())
            text = "".join("d" if macro else piece for piece, macro in pieces).encode().decode("unicode_escape")
            if sum(map(letters, fixed_parts(text))) >= SHORTEST:
                yield source.count("\n", 0, call.start()) + 1, text


def end_of_call(source, at):
    """Where the bracket closes that opens before `at`."""
    depth = 1
    for token in re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[()]').finditer(source, at):
        depth += {"(": 1, ")": -1}.get(token.group(), 0)
        if depth == 0:
            return token.start()
    return len(source)


@functools.cache
def fixed_parts(message):
    parts = re.split(r"%[-+ #0-9.*]*(?:hh|h|ll|l|z|j|t)?[a-zA-Z]", message.replace("%%", "\0"))
    return [part.replace("\0", "%") for part in parts]


def pattern(message):
    return ".*?".join(re.escape(part) for part in fixed_parts(message) if part)


if __name__ == "__main__":
    sys.exit(main())
