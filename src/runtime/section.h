// SPDX-License-Identifier: BSD-3-Clause
// Sections: rectangles of a tensor that each rank chooses for itself, read from where they are at home, or
// written there. Messages carry what the ranks ask for and nothing else. Every function here is collective
// over `comm`, and a failure on one rank is the same diagnostic on all.
#ifndef DISTAL_RUNTIME_SECTION_H
#define DISTAL_RUNTIME_SECTION_H

#include "runtime/agreement.h"
#include "runtime/storage.h"

// Intervals of coordinates, and their elements, of the tensor's type and without gaps.
typedef struct {
    Rect rect;
    void *values;
    const int *mode_order; // in which they are stored; NULL: row-major
} Section;

// Reads `count` sections, which may differ on each rank; of a sparse tensor zeros where nothing is stored.
// Beside the sections, a rank takes a few MiB for each rank that reads from it, and of a sparse tensor a list
// of its own entries.
bool sections_read(const Storage *storage, int64_t count, const Section *sections, MPI_Comm comm,
                   Diagnostics *diagnostics);
// Writes them into a dense tensor, into all replicas. Where several ranks write an element, the value of the
// highest rank stays.
bool sections_write(const Storage *storage, int64_t count, const Section *sections, MPI_Comm comm,
                    Diagnostics *diagnostics);

#endif
