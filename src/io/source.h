// SPDX-License-Identifier: BSD-3-Clause
// Where the elements of an input come from, as the user names it: a generator or a file (docs/command.md).
#ifndef DISTAL_IO_SOURCE_H
#define DISTAL_IO_SOURCE_H

#include "io/formats.h"
#include "io/generators.h"

typedef struct {
    const char *text;         // as written; the path of a file
    const FileFormat *format; // of a file; NULL: a generator
    const Generator *generator;
    GeneratorValues values;
} SourceSpec;

// A generator with its arguments or the path of a file, for `tensor`. False with a diagnostic.
bool source_parse(const char *text, const Tensor *tensor, Arena *arena, SourceSpec *spec,
                  Diagnostics *diagnostics);

// What a source can be: "PATH.npy, zeros, ... or random:SEED:DENSITY".
const char *source_list(Arena *arena);

// The source of the `index`th input (from 0) that the user gave none for.
SourceSpec source_default(int64_t index, Arena *arena);

#endif
