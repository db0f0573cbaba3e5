// SPDX-License-Identifier: BSD-3-Clause
// Runs: a patch of elements in two places (memory and memory, memory and file, memory and global positions),
// decomposed into one-dimensional runs. Copying, adding, generating, reading and writing use them.
#ifndef DISTAL_IO_RUNS_H
#define DISTAL_IO_RUNS_H

#include "format/patch.h"

enum { RUN_LENGTH = 1 << 14 }; // elements in one run at most

// Elements a, a + a_step, ... in the first place and b, b + b_step, ... in the second; offsets in elements
// from the first element of the patch.
typedef struct {
    int64_t a, b, count;
    int64_t a_step, b_step;
} Run;
typedef void (*RunVisit)(void *context, const Run *run);

// Levels by increasing stride in the first place; levels that are contiguous in both places are joined.
typedef struct {
    int levels; // at least one
    int64_t extent[MAX_LEVELS], a[MAX_LEVELS], b[MAX_LEVELS];
} Runs;

// Strides are in elements, by level, and not negative.
Runs runs_create(int levels, const int64_t *extent, const int64_t *a_stride, const int64_t *b_stride);

// Calls `visit` for every run: in order, or, with `threads` and many elements, concurrently by several
// threads.
void runs_visit(const Runs *runs, bool threads, RunVisit visit, void *context);

#endif
