// SPDX-License-Identifier: BSD-3-Clause
// The system's C compiler: which one, with which flags, and how it is run.
#ifndef DISTAL_JIT_COMPILER_H
#define DISTAL_JIT_COMPILER_H

#include "base/diagnostic.h"
#include "jit/hash.h"

typedef struct {
    Array(const char *) words; // the command and its flags, without input and output
} Compiler;

// DISTAL_CC (cc) and DISTAL_CFLAGS (-O3 -march=native), split at blanks, with what every kernel needs.
Compiler compiler_from_environment(Arena *arena);

// Adds what decides on the code that comes out: the words, the files behind the command's words as they are
// now (a compiler that was upgraded is another one; starting it to ask for its version would take longer
// than a cache hit may), and the processor, as flags may say "native".
void compiler_hash(const Compiler *compiler, Hash *hash);

// Compiles the file `source` to the shared object `object`, both names in an open folder whose name is
// `path`; the kernel header is there too. The compiler may take the seconds that DISTAL_CC_TIMEOUT says (300;
// 0: any number), and ends with this process. False with a diagnostic that holds the command and what the
// compiler said.
bool compiler_run(const Compiler *compiler, int folder, const char *path, const char *source,
                  const char *object, Diagnostics *diagnostics);

#endif
