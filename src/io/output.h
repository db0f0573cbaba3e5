// SPDX-License-Identifier: BSD-3-Clause
// Output files: a file appears under its name when it is complete, and not before. It is written as a draft
// beside that name, which then takes the name. A link stays a link: the file that it leads to is replaced.
#ifndef DISTAL_IO_OUTPUT_H
#define DISTAL_IO_OUTPUT_H

#include "base/diagnostic.h"

typedef struct {
    const char *path, *draft;
} Output;

// `process` tells the drafts of several writers apart.
Output output_create(const char *path, long process, Arena *arena);

// A pipe or a device, which can only be written itself.
bool output_is_stream(const Output *output);

// Whether there can be a file of this name. False with a diagnostic.
bool output_possible(const Output *output, Diagnostics *diagnostics);

// The diagnostic for a file that could not be written; always false.
bool output_refuse(const Output *output, const char *why, Diagnostics *diagnostics);

// The draft takes the name where `ok`, and is removed otherwise. False where it does not have the name, with
// a diagnostic where it could not take it.
bool output_finish(const Output *output, bool ok, Diagnostics *diagnostics);

#endif
