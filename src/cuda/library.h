// SPDX-License-Identifier: BSD-3-Clause
// Libraries of CUDA, loaded when a program asks for a GPU, so that one binary runs on machines without.
#ifndef DISTAL_CUDA_LIBRARY_H
#define DISTAL_CUDA_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *name;
    size_t offset; // in the record of functions
    bool optional; // NULL where an older library lacks it
} LibrarySymbol;

// The name that a header gives a function, which may be a macro with a version: cuMemAlloc_v2.
#define LIBRARY_STRING(name) #name
#define LIBRARY_SYMBOL(Record, name, optional)                                                               \
    { LIBRARY_STRING(name), offsetof(Record, name), optional }

typedef struct {
    const char *name;
    int version; // of CUDA that it needs a driver of, as cuDriverGetVersion gives it; 0: any
} LibraryFile;

// Sets the functions of a record from the first library of a list, which one without a name ends, that can be
// loaded: as the system finds it, or from the folder of CUDA at build time. Those that need a later major
// version than `version` (0: any) are tried last. NULL; else a clause, in static memory, that says what is
// missing.
const char *library_load(const LibraryFile *files, int version, const LibrarySymbol *symbols, size_t count,
                         void *record);

#endif
