// SPDX-License-Identifier: BSD-3-Clause
// For what every processor has that the library is compiled for.
#define PANELS panels_baseline
#ifdef __aarch64__
#define ROWS 8 // there are 32 registers
#else
#define ROWS 4
#endif
#define VECTOR 16
#include "runtime/panels_kernels.h"

int panels_available(const Panels *available[PANELS_COUNT]) {
    int count = 0;
#ifdef __x86_64__
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        available[count++] = &panels_avx512;
    if (avx2)
        available[count++] = &panels_avx2;
#endif
    available[count++] = &panels_baseline;
    return count;
}
