// SPDX-License-Identifier: BSD-3-Clause
// Patches: parts of a rectangle that is stored in two places, with constant strides in both. An interval of a
// mode has a constant stride; a periodic set is decomposed into a few strips.
#ifndef DISTAL_IO_PATCH_H
#define DISTAL_IO_PATCH_H

#include "format/slice.h"

// `repeat` runs of `length` coordinates: the positions of the first run in both places, and the distances
// from one run to the next, which are undefined where there is one run.
typedef struct {
    int64_t length, repeat;
    int64_t a, b, a_step, b_step;
} Strip;

// Finds the strip of `set` that begins at its first coordinate not below `from`; *next is the `from` of the
// following strip. Both `a` and `b` contain `set`. False where there are no more coordinates.
bool strip_next(PositionSet set, PositionSet a, PositionSet b, int64_t from, Strip *strip, int64_t *next);

enum { MAX_LEVELS = 2 * MAX_ORDER };

typedef struct {
    int64_t a, b; // offsets of the first element
    int levels;
    int64_t extent[MAX_LEVELS], a_stride[MAX_LEVELS], b_stride[MAX_LEVELS];
} Patch;

typedef void (*PatchVisit)(void *context, const Patch *patch);

// Calls `visit` for each patch of `rect`, which both frames contain.
void patches_visit(const Rect *rect, const Frame *a, const Frame *b, PatchVisit visit, void *context);

#endif
