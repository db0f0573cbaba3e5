#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs with apt-get what the build and the tests need and this machine lacks; with the argument `command`, what
# the command and the library need. With other arguments it installs those packages instead. BUILD names the folder of
# the build.
set -euo pipefail

needed=(gcc libc6-dev make cmake ninja-build pkg-config libopenblas-openmp-dev libhwloc-dev libhdf5-dev libjansson-dev)
tests=(libcmocka-dev python3 python3-numpy python3-scipy python3-h5py gfortran)
with_tests=1
if [ "$*" = command ]; then
    with_tests=
    shift
else
    needed+=("${tests[@]}")
fi
# Any MPI that is there will do. Nothing is installed for the Fortran module alone, whose tests are skipped without.
if ! command -v mpicc >/dev/null; then
    needed+=(libopenmpi-dev openmpi-bin ${with_tests:+libscalapack-openmpi-dev})
fi

# Debian may have several builds of OpenBLAS, each in a folder of its own. That which shares the threads of OpenMP
# is the best, and the others do as well.
multiarch=$(gcc -print-multiarch 2>/dev/null || true)
openmp_openblas=/usr/lib/$multiarch/openblas-openmp/pkgconfig
export PKG_CONFIG_PATH=${PKG_CONFIG_PATH:-}:$openmp_openblas

# Asks for the things themselves, as they may come from elsewhere than the packages.
lacking() {
    local tool module
    for tool in gcc make cmake pkg-config mpicc mpirun; do
        command -v "$tool" >/dev/null || echo "$tool"
    done
    for module in openblas hwloc jansson ${with_tests:+cmocka}; do
        pkg-config --exists "$module" 2>/dev/null || echo "$module"
    done
    pkg-config --exists hdf5-serial 2>/dev/null || pkg-config --exists hdf5 2>/dev/null || echo hdf5
    [ -z "$with_tests" ] || "${PYTHON:-/usr/bin/python3}" -c 'import numpy, scipy, h5py' 2>/dev/null || echo "python3 with numpy, scipy and h5py"
}

if [ $# -gt 0 ]; then
    needed=("$@")
    wanted="$*"
else
    wanted=$(lacking | paste -sd, | sed 's/,/, /g')
fi
# CMake looks for the BLAS once, so a better one is of use before the first build only.
if [ -z "$wanted" ]; then
    if [ ! -e "${BUILD:-build}/CMakeCache.txt" ] && [ ! -d "$openmp_openblas" ] && [ "$(id -u)" -eq 0 ] &&
        dpkg -s libopenblas0-pthread >/dev/null 2>&1; then
        echo "setup: installing libopenblas-openmp-dev, for products on several threads" >&2
        { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install libopenblas-openmp-dev; } \
            >/dev/null 2>&1 || echo "setup: that failed, and the OpenBLAS that is there is used" >&2
    fi
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
