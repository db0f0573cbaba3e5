// SPDX-License-Identifier: BSD-3-Clause
// Runs: a patch of elements in two places at once (memory and memory, memory and file, memory and global
// positions), taken apart into straight runs. Copying, adding, generating, reading and writing all go through
// it.
#ifndef DISTAL_IO_RUNS_H
#define DISTAL_IO_RUNS_H

#include "io/patch.h"

enum { RUN_LENGTH = 1 << 14 }; // elements in one run at most

// Elements a, a + a_step, ... in the one place and b, b + b_step, ... in the other; offsets in elements from
// the first of the patch.
typedef struct {
    int64_t a, b, count;
    int64_t a_step, b_step;
} Run;
typedef void (*RunVisit)(void *context, const Run *run);

// Levels by increasing stride in the first place; those that follow each other seamlessly in both are joined.
typedef struct {
    int levels; // at least one
    int64_t extent[MAX_LEVELS], a[MAX_LEVELS], b[MAX_LEVELS];
} Runs;

// Strides are in elements, by level, and not negative.
Runs runs_create(int levels, const int64_t *extent, const int64_t *a_stride, const int64_t *b_stride);

// Calls `visit` for every run: in order, or, with `threads`, by several threads at once when there is much to
// do.
void runs_visit(const Runs *runs, bool threads, RunVisit visit, void *context);

#endif
