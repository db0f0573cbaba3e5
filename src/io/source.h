// SPDX-License-Identifier: BSD-3-Clause
// Where the elements of an input come from, as the user names it: a generator or a file (docs/command.md);
// and which files an output can go to.
#ifndef DISTAL_IO_SOURCE_H
#define DISTAL_IO_SOURCE_H

#include "index/notation.h"

typedef enum {
    SOURCE_ZEROS,
    SOURCE_ONES,
    SOURCE_IOTA,   // the position
    SOURCE_CONST,  // one value
    SOURCE_RANDOM, // SplitMix64 of seed and position
    SOURCE_NPY,    // a file
} SourceKind;

typedef struct {
    SourceKind kind;
    const char *text; // as written; the path of SOURCE_NPY
    double real;      // SOURCE_CONST
    int64_t integer;  // SOURCE_CONST, for integer tensors
    uint64_t seed;    // SOURCE_RANDOM
    bool has_density; // positions are kept with probability `density`, the others are 0
    double density;
} SourceSpec;

// `zeros`, `ones`, `iota`, `const:V`, `random:SEED[:DENSITY]` or a path that ends in .npy, for `tensor`.
// False with a diagnostic.
bool source_parse(const char *text, const Tensor *tensor, Arena *arena, SourceSpec *spec,
                  Diagnostics *diagnostics);

// What sources and files of outputs look like: "PATH.npy, zeros, ... or random:SEED:DENSITY", "PATH.npy".
const char *source_list(Arena *arena);
const char *output_list(Arena *arena);

// The source of the `index`th input (from 0) that the user gave none for.
SourceSpec source_default(int64_t index, Arena *arena);

// Whether `tensor` can be written to a file of this name. False with a diagnostic.
bool output_check(const char *path, const Tensor *tensor, Diagnostics *diagnostics);

#endif
