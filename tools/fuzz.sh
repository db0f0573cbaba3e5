#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# fuzz.sh NAME BUILD SECONDS: gives tests/fuzz/NAME.c what libFuzzer makes of the corpus, for so long or up to the
# first finding. What it learns stays in the build folder for the next time.
set -euo pipefail
cd "$(dirname "$0")/.."
name=$1 build=$2 seconds=$3
corpus=tests/fuzz/corpus/$name
found=$build/findings
mkdir -p "$build/corpus/$name" "$found"

export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
if "$build/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -max_len=8192 -mutate_depth=2 -timeout=30 -rss_limit_mb=4096 \
    -print_final_stats=1 -artifact_prefix="$found/$name-" "$build/corpus/$name" "$corpus"; then
    echo "fuzz-$name: nothing found in $seconds s"
else
    echo "fuzz-$name: the finding above is $(ls -t "$found/$name"-* | head -n 1); make it small with" >&2
    echo "  $build/tests/fuzz/fuzz_$name -minimize_crash=1 -max_total_time=60 FINDING" >&2
    echo "and keep it in $corpus, where 'make check' replays it" >&2
    exit 1
fi
