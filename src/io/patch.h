// SPDX-License-Identifier: BSD-3-Clause
// Patches: a rectangle that lies in two places at once, taken apart so that each part has regular strides in
// both. An interval of a mode is regular; a mode with a periodic set falls into a few strips of equal runs at
// equal distances.
#ifndef DISTAL_IO_PATCH_H
#define DISTAL_IO_PATCH_H

#include "machine/rect.h"

// A place: `rect` stored so that element x lies at the sum over modes d of (position of x[d] in mode d of
// `rect`) * stride[d]. Strides are in elements and not negative.
typedef struct {
    const Rect *rect;
    const int64_t *stride;
} Frame;

// `repeat` runs of `length` coordinates: positions of their first ones in two places, and how far one run is
// from the next. The step means nothing where there is one run.
typedef struct {
    int64_t length, repeat;
    int64_t a, b, a_step, b_step;
} Strip;

// Takes the strip of `set` that starts at its coordinate `from` or the next one; *next is where to go on.
// Both `a` and `b` contain `set`. False where nothing is left.
bool strip_next(PositionSet set, PositionSet a, PositionSet b, int64_t from, Strip *strip, int64_t *next);

enum { MAX_LEVELS = 2 * MAX_ORDER };

typedef struct {
    int64_t a, b; // offsets of the first element
    int levels;
    int64_t extent[MAX_LEVELS], a_stride[MAX_LEVELS], b_stride[MAX_LEVELS];
} Patch;

typedef void (*PatchVisit)(void *context, const Patch *patch);

// Calls `visit` for the patches of `rect`, which lies in both frames.
void patches_visit(const Rect *rect, const Frame *a, const Frame *b, PatchVisit visit, void *context);

#endif
