// SPDX-License-Identifier: BSD-3-Clause
// Threads of the BLAS library, and the memory that they take. A thread of OpenBLAS allocates a buffer when it
// starts, the calling one when it first computes; where it cannot have it, it tries again without end, also
// when the process exits. With another library than OpenBLAS, nothing here has an effect.
#ifndef DISTAL_RUNTIME_BLAS_MEMORY_H
#define DISTAL_RUNTIME_BLAS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

// Whether this process may be refused address space: by its limits, or by a system that promises no more
// memory than it has.
bool blas_memory_is_limited(void);

// Whether there is memory for what the library allocates when it is loaded, for one thread. May be called
// before.
bool blas_can_load(void);

// The number of threads of the library from now on. Where their buffers cannot be had, blas_reserve says so.
void blas_set_threads(int threads);

// Has the library allocate its buffers now, where address space is limited. False where that would not
// succeed; *bytes is then what it takes.
bool blas_reserve(int64_t *bytes);

#endif
