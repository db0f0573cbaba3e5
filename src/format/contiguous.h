// SPDX-License-Identifier: BSD-3-Clause
// A rectangle in a file and in memory as runs of elements that follow each other in both: what one call of
// the system reads or writes. Plans count them, executions visit them.
#ifndef DISTAL_FORMAT_CONTIGUOUS_H
#define DISTAL_FORMAT_CONTIGUOUS_H

#include "format/slice.h"

// How a file stores a rectangle: packed in the order of the levels, or, where its modes are intervals, in
// tiles of `tile` coordinates of each mode, from its first coordinates on, which are packed and follow each
// other in this order.
typedef struct {
    const Rect *rect;
    LevelList levels;
    const int64_t *tile; // by mode; NULL: not in tiles
} FileLayout;

// `count` elements from the offsets `file` and `memory` on, which are in elements.
typedef void (*ContiguousVisit)(void *context, int64_t file, int64_t memory, int64_t count);

// Both contain `rect`. Visits in the order of the file, as far as modes are intervals.
void contiguous_visit(const Rect *rect, const FileLayout *file, const Frame *memory, ContiguousVisit visit,
                      void *context);
int64_t contiguous_count(const Rect *rect, const FileLayout *file, const Frame *memory);

#endif
