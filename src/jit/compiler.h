// SPDX-License-Identifier: BSD-3-Clause
// The system's C compiler: its command and flags, and a function that runs it.
#ifndef DISTAL_JIT_COMPILER_H
#define DISTAL_JIT_COMPILER_H

#include "base/diagnostic.h"
#include "jit/hash.h"

typedef struct {
    Array(const char *) words; // the command and its flags, without input and output
} Compiler;

// DISTAL_CC (cc) and DISTAL_CFLAGS (-O3 -march=native), split at blanks, with the flags of all kernels.
Compiler compiler_from_environment(Arena *arena);

// Adds all that determines the compiled code: the words, identity and times of the command's files (which
// change when the compiler is upgraded; asking it for its version would take longer than a cache hit may),
// and the processor, as flags may say "native".
void compiler_hash(const Compiler *compiler, Hash *hash);

// Compiles the file `source` to the shared object `object`, both names in an open folder whose name is
// `path`; the kernel header is there too. The compiler may take the seconds that DISTAL_CC_TIMEOUT says (300;
// 0: any number), and ends with this process. False with a diagnostic that contains the command and the
// output of the compiler.
bool compiler_run(const Compiler *compiler, int folder, const char *path, const char *source,
                  const char *object, Diagnostics *diagnostics);

#endif
