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
    const char
        *distrust; // why a cache that is there was not used: a folder that others may have written into, as
                   // a clause; NULL for any other reason and for none. In the arena of the diagnostics
} Kernel;

// Compiles `source` into the cache if that does not hold it yet; where the cache cannot be written, does
// nothing. Safe with many processes at once (each writes beside, then renames). The key is a hash of the
// source, the kernel header and what compiler_hash adds. Environment: DISTAL_CC, DISTAL_CFLAGS,
// DISTAL_CC_TIMEOUT (see compiler.h), XDG_CACHE_HOME, HOME, TMPDIR. False with a diagnostic that holds the
// compiler's output.
bool jit_compile(const char *source, bool *cache_hit, double *seconds, Diagnostics *diagnostics);

// Loads `function` of `source`, which jit_compile has put into the cache. Only a file that is this user's and
// that no other user can write to, in folders of which the same holds, is loaded. Where there is none,
// compiles it first: in a temporary folder where the cache cannot be written, is not to be trusted, or is on
// a file system that nothing can be executed from.
bool jit_load(const char *source, const char *function, Kernel *kernel, Diagnostics *diagnostics);
void jit_unload(Kernel *kernel);

#endif
