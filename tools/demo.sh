#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Multiplies two matrices that NumPy wrote with SUMMA on 4 ranks: the program, the plan, the run, and NumPy's verdict.
set -euo pipefail
cd "$(dirname "$0")/.."
distal=${1:-build}/distal
python=${PYTHON:-/usr/bin/python3}
n=1500
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() {
    if [ -t 1 ]; then
        printf '\n\033[1m$ %s\033[0m\n' "$*"
    else
        printf '\n$ %s\n' "$*"
    fi
    "$@"
}

"$python" - "$work" $n <<'PYTHON'
import sys
import numpy
folder, n = sys.argv[1], int(sys.argv[2])
generator = numpy.random.default_rng(1)
for name in "BC":
    numpy.save(f"{folder}/{name}.npy", generator.standard_normal((n, n)))
print(f"NumPy {numpy.__version__} wrote B.npy and C.npy, {n} x {n} float64")
PYTHON

step cat examples/summa.distal
step "$distal" plan examples/summa.distal -p n=$n
step "$distal" run examples/summa.distal -p n=$n --in B="$work/B.npy" --in C="$work/C.npy" --out A="$work/A.npy" \
    --check --stats

printf '\n'
"$python" - "$work" <<'PYTHON'
import sys
import numpy
a, b, c = (numpy.load(f"{sys.argv[1]}/{name}.npy") for name in "ABC")
expected = b @ c
error = numpy.abs(a - expected).max() / numpy.abs(expected).max()
print(f"A.npy beside NumPy's own product: largest relative error {error:.1e}")
sys.exit(a.shape != expected.shape or not error < 1e-12)
PYTHON
