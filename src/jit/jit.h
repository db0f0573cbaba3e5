// SPDX-License-Identifier: BSD-3-Clause
// JIT: generated C to a loaded function, through the system's C compiler and a cache on disk.
#ifndef DISTAL_JIT_JIT_H
#define DISTAL_JIT_JIT_H

#include "base/diagnostic.h"
#include "distal_kernel.h"

typedef struct {
    distal_kernel_function function;
    distal_kernel_function structure; // NAME_structure, where there is one: the entries of the result
} KernelFunctions;

typedef struct {
    void *handle; // of dlopen; jit_unload closes it, but the code stays mapped
    void *module; // of its kernels of a GPU; NULL: it has none
    bool cache_hit;
    double seconds;       // spent compiling, 0 on a hit
    const char *distrust; // if an existing cache was not used because others may have written to it: the
                          // reason, as a clause, in the arena of the diagnostics; else NULL
} Kernel;

// Compiles `source` into the cache unless it is there; does nothing if the cache cannot be written. Many
// processes may do so at the same time, as each renames complete files. The key is a hash of the source, the
// kernel header and what compiler_hash adds. Environment: DISTAL_CC, DISTAL_CFLAGS, DISTAL_CC_TIMEOUT (see
// compiler.h), XDG_CACHE_HOME, HOME, TMPDIR. False with a diagnostic that holds the compiler's output.
bool jit_compile(const char *source, bool *cache_hit, double *seconds, Diagnostics *diagnostics);

// Loads `count` functions of `source`, which jit_compile has put into the cache. Only files and folders that
// belong to this user and that no other user can write to are used. If there is none, compiles it first: in a
// temporary folder if the cache cannot be written, is not trusted, or is on a file system that does not
// permit execution. functions[i] is that of names[i]. False with a diagnostic.
bool jit_load(const char *source, int count, const char *const *names, Kernel *kernel,
              KernelFunctions *functions, Diagnostics *diagnostics);
void jit_unload(Kernel *kernel);

#endif
