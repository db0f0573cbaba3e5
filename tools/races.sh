#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# races.sh BUILD: runs what shares memory between threads under ThreadSanitizer, in one process, with more threads
# than most machines of tests have cores. BUILD is configured with DISTAL_RACES; kernels are compiled in the same way.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
compiler=${CLANG:-clang-14}

# libarcher tells ThreadSanitizer what the constructs of OpenMP synchronize.
archer=$("$compiler" -print-resource-dir)/../../libarcher.so
if [ ! -e "$archer" ]; then
    echo "races: libarcher.so is not where $compiler is; on Debian it is in libomp-14-dev" >&2
    exit 2
fi
export OMP_TOOL_LIBRARIES=$archer OMP_NUM_THREADS=3 DISTAL_CC=$compiler XDG_CACHE_HOME=$PWD/$build/test-cache
export TSAN_OPTIONS=ignore_noninstrumented_modules=1:exitcode=66
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# What is run says nothing unless it fails.
failed=0
check() {
    local name=$1
    shift
    if "$@" > "$folder/output" 2>&1; then
        echo "ok races/$name"
    else
        echo "FAIL races/$name: exit status $?"
        sed '/passed over/d; s/^/    /' "$folder/output"
        failed=1
    fi
}

# The checker itself: a program that has a race is found to have it.
cat > "$folder/race.c" << 'END'
int main(void) {
    int sum = 0;
#pragma omp parallel for
    for (int i = 0; i < 100000; i++)
        sum += i;
    return sum == 1;
}
END
"$compiler" -O1 -fopenmp -fsanitize=thread "$folder/race.c" -o "$folder/race"
check checker bash -c '! "$0"' "$folder/race"

for test in blas contraction entry_files format io stored; do
    check "test_$test" "$build/tests/unit/test_$test"
done
# Programs that are drawn for one rank, about one in four.
check property mpirun -n 1 "$build/tests/property/property" --count 300 --sparse 500 --each 0 --broken 0

# Sizes for which the library starts threads as well.
export DISTAL_CFLAGS="-O2 -g -fsanitize=thread"
run() {
    local program=$1
    shift
    check "$program $*" "$build/distal" run "examples/$program.distal" --threads 3 --check "$@"
}
run spmv --in B=sparse:1:100000
run spmm --in B=sparse:1:100000
run sddmm --in B=sparse:1:50000
run spadd --in B=sparse:1:60000 --in C=sparse:2:60000 --in D=sparse:3:60000
run spgemm --in B=sparse:1:20000 --in C=sparse:2:20000
run sparse_mttkrp --in B=sparse:1:100000
cat > "$folder/convert.distal" << 'END'
param n = 2000
tensor A(n, n): f64, csc
tensor B(n, n): f64, coo
tensor C(n, n): f64, csr
A(i, j) = B(i, j)
C(i, j) = A(i, j) + B(j, i)
END
check conversions "$build/distal" run "$folder/convert.distal" --threads 3 --check --in B=sparse:1:200000 \
    --out "C=$folder/C.mtx"
exit $failed
