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

// Compiles `source` into the cache if that does not hold it yet; where the cache cannot be written, does
// nothing. Safe with many processes at once (each writes beside, then renames). The key is a hash of the
// source, the kernel header and what compiler_hash adds. Environment: DISTAL_CC, DISTAL_CFLAGS (see
// compiler_from_environment), XDG_CACHE_HOME. False with a diagnostic that holds the compiler's output.
bool jit_compile(const char *source, bool *cache_hit, double *seconds, Diagnostics *diagnostics);

// Loads `function` of `source`, which jit_compile has put into the cache. Where it is not there, compiles it
// first, in a temporary folder where the cache cannot be written.
bool jit_load(const char *source, const char *function, Kernel *kernel, Diagnostics *diagnostics);
void jit_unload(Kernel *kernel);

#endif
