#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Looks for what a compiler does not report: layout, layering, clang-tidy's and cppcheck's findings.
# Every check runs even where one finds something; the exit status is 1 if any did.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
clang_format=${CLANG_FORMAT:-clang-format-14}
found=0

for tool in "$clang_format" clang-tidy-14 cppcheck; do
    if ! command -v "$tool" >/dev/null; then
        tools/setup.sh clang-format-14 clang-tidy-14 libomp-14-dev cppcheck || exit 1
        break
    fi
done
if [ ! -f "$build/compile_commands.json" ]; then
    cmake -S . -B "$build" --log-level=NOTICE || exit 1
fi

check() {
    local name=$1
    shift
    echo "== $name"
    "$@" || { echo "== $name: findings above"; found=1; }
}

layout() {
    find src include fortran tests examples bench -name '*.[ch]' 2>/dev/null | sort | xargs -r "$clang_format" --dry-run -Werror
}

# One file a process: clang-tidy 14 reports an uninitialized va_list falsely when it analyzes several.
tidy() {
    find src -name '*.c' | sort |
        xargs -r -n 1 -P "$(nproc)" clang-tidy-14 -p "$build" --quiet 2> >(grep -v 'warnings\? generated\.$' >&2)
}

check "clang-format" layout
check "layers" "${PYTHON:-/usr/bin/python3}" tools/layers.py
check "clang-tidy" tidy
check "cppcheck" cppcheck --quiet -j "$(nproc)" --enable=warning,performance,portability --inline-suppr --std=c11 \
    --library=posix --suppress=missingIncludeSystem --error-exitcode=1 -D_GNU_SOURCE -DDISTAL_VERSION=\"\" -Isrc -Iinclude src
exit $found
