// SPDX-License-Identifier: BSD-3-Clause
// For x86 with AVX-512 (F and DQ), which the compiler is told to use for this file.
#ifdef __AVX512F__
#define PANELS panels_avx512
#define ROWS 8
#define VECTOR 64
#include "runtime/panels_kernels.h"
#else
typedef int no_avx512;
#endif
