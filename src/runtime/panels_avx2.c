// SPDX-License-Identifier: BSD-3-Clause
// For x86 with AVX2 and FMA, which the compiler is told to use for this file.
#ifdef __AVX2__
#define PANELS panels_avx2
#define ROWS 4
#define VECTOR 32
#include "runtime/panels_kernels.h"
#else
typedef int no_avx2;
#endif
