// SPDX-License-Identifier: BSD-3-Clause
// JIT: generated C to a loaded function, through the system's C compiler and a cache on disk.
#ifndef DISTAL_JIT_JIT_H
#define DISTAL_JIT_JIT_H

#include "base/diagnostic.h"
#include "distal_kernel.h"

typedef struct {
    distal_kernel_function function;
    void *handle; // of dlopen; jit_unload gives it back, and the code stays mapped all the same
    bool cache_hit;
    double seconds; // spent compiling, 0 on a hit
} Kernel;

// Compiles `source` if the cache does not hold it yet. Safe with many processes at once (each writes beside,
// then renames). The key is a hash of the source, the header, the compiler's name and version, and the flags.
// Environment: DISTAL_CC (cc), DISTAL_CFLAGS (-O3 -march=native), XDG_CACHE_HOME. An unwritable cache falls
// back to a temporary folder. False with a diagnostic that holds the compiler's output.
bool jit_compile(const char *source, bool *cache_hit, double *seconds, Diagnostics *diagnostics);

// Loads `function` of `source`, which jit_compile has put into the cache (compiles it otherwise).
bool jit_load(const char *source, const char *function, Kernel *kernel, Diagnostics *diagnostics);
void jit_unload(Kernel *kernel);

#endif
