// SPDX-License-Identifier: BSD-3-Clause
// Sources of inputs, as the user writes them: a generator or a file (docs/command.md).
#ifndef DISTAL_IO_SOURCE_H
#define DISTAL_IO_SOURCE_H

#include "io/formats.h"
#include "io/generators.h"

typedef struct {
    const char *text;         // as written; the path of a file
    bool is_default;          // the user gives none
    const FileFormat *format; // of a file; NULL: a generator
    const Generator *generator;
    GeneratorValues values;
} SourceSpec;

// Parses the source of `tensor`: a generator with its arguments, or the path of a file. False with a
// diagnostic.
bool source_parse(const char *text, const Tensor *tensor, Arena *arena, SourceSpec *spec,
                  Diagnostics *diagnostics);

// All forms of sources: "PATH.npy, zeros, ... or random:SEED[:DENSITY]".
const char *source_list(Arena *arena);

// The source of the `index`th input (from 0), used where the user gives none.
SourceSpec source_default(int64_t index, Arena *arena);

#endif
