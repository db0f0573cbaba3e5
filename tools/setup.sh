#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs with apt-get what the build and the tests need and this machine lacks.
# With arguments it installs those packages instead.
set -euo pipefail

needed=(gcc libc6-dev make cmake ninja-build pkg-config libopenblas-dev libhwloc-dev libcmocka-dev python3 python3-numpy python3-scipy)
# Any MPI that is there will do.
if ! command -v mpicc >/dev/null; then
    needed+=(libopenmpi-dev openmpi-bin)
fi

# Asks for the things themselves, as they may come from elsewhere than the packages.
lacking() {
    local tool module
    for tool in gcc make cmake pkg-config mpicc mpirun; do
        command -v "$tool" >/dev/null || echo "$tool"
    done
    for module in openblas hwloc cmocka; do
        pkg-config --exists "$module" 2>/dev/null || echo "$module"
    done
    "${PYTHON:-/usr/bin/python3}" -c 'import numpy, scipy' 2>/dev/null || echo "python3 with numpy and scipy"
}

if [ $# -gt 0 ]; then
    needed=("$@")
    wanted="$*"
else
    wanted=$(lacking | paste -sd, | sed 's/,/, /g')
fi
if [ -z "$wanted" ]; then
    exit 0
fi

echo "setup: missing: $wanted" >&2
if ! command -v apt-get >/dev/null; then
    echo "setup: this is not a Debian system; please install the above (on Debian: ${needed[*]})" >&2
    exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
    as_root=(env)
elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    as_root=(sudo env)
else
    echo "setup: not root, and no sudo: ask for 'apt-get install ${needed[*]}'" >&2
    exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
    "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
}
echo "setup: installing ${needed[*]}" >&2
apt -q update
apt -q -y --no-install-recommends install "${needed[@]}"
if [ $# -eq 0 ]; then
    still=$(lacking | paste -sd, | sed 's/,/, /g')
    if [ -n "$still" ]; then
        echo "setup: still missing after the installation: $still" >&2
        exit 1
    fi
fi
