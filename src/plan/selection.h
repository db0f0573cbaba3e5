// SPDX-License-Identifier: BSD-3-Clause
// Selections: which elements of a tensor a rank uses, by the ranks that have them at home. What the entries
// of a sparse operand need of another one is in a few rectangles, and in these at many coordinates, of which
// a run of consecutive ones takes a few numbers.
#ifndef DISTAL_PLAN_SELECTION_H
#define DISTAL_PLAN_SELECTION_H

#include "machine/rect.h"

// The elements of a rectangle; with runs, only the elements at the coordinates of one of the runs: the
// rectangle is then their bounding box in the modes of the runs.
typedef struct {
    Rect rect;
    int64_t peer;         // rank at the other end, which may be the own one
    int64_t first, count; // runs; 0: all of the rectangle
} SelectedPart;

// A run is mode_count + 1 numbers: one coordinate in each of `modes` but the last, and in the last the
// half-open interval of the last two numbers. Parts are disjoint.
typedef struct {
    int mode_count;
    int modes[MAX_ORDER];
    Array(SelectedPart) parts;
    Array(int64_t) numbers;
} Selection;

// The numbers of a run.
static inline int run_length(int mode_count) {
    return mode_count + 1;
}

static inline const int64_t *selection_run(const Selection *selection, int64_t run) {
    return selection->numbers.items + run * run_length(selection->mode_count);
}

// The coordinates of a run in mode `i` of its `mode_count` modes.
static inline PositionSet run_interval(int mode_count, const int64_t *run, int i) {
    return (PositionSet){run[i], i + 1 < mode_count ? run[i] + 1 : run[i + 1], NULL};
}

// One without parts that has runs in the same modes.
Selection selection_like(const Selection *selection);
// Appends a part without runs; appends a run to the last part. The first run shrinks the rectangle to itself
// in the modes of the runs, later ones extend it. Periodic sets stay those of the rectangle.
void selection_add_part(Selection *selection, const Rect *rect, int64_t peer, Arena *arena);
void selection_add_run(Selection *selection, const int64_t *run, Arena *arena);
// Call after the last run of a part: a part with a single run becomes its rectangle.
void selection_end_runs(Selection *selection);
// Appends a part of another selection, with runs in the same modes.
void selection_append(Selection *selection, const Selection *from, int64_t part, Arena *arena);
// Sorts parts in part_order.
void selection_sort(Selection *selection);
// The order of parts: by peer, and those of one peer by rect_compare.
int part_order(int64_t peer, const Rect *rect, int64_t other_peer, const Rect *other);

// The number of rectangles of a part, one or one for each run; the rectangle `index` of these; the number of
// elements of the part.
int64_t part_rect_count(const SelectedPart *part);
Rect part_rect(const Selection *selection, const SelectedPart *part, int64_t index);
int64_t part_volume(const Selection *selection, const SelectedPart *part);
// The elements of a part with the same coordinates in all modes of runs.
int64_t part_each(const Selection *selection, const SelectedPart *part);
// A part as 64-bit numbers, as it is in a message (runtime/part_exchange.h): for each mode the interval, the
// number of segments of its periodic set, and where that is not zero the period and the segments; then the
// number of runs, and these. How many numbers that takes; writes them; appends a part that is read, of a
// tensor of this order. Returns what follows it.
int64_t part_numbers(const Selection *selection, const SelectedPart *part);
void part_write(const Selection *selection, const SelectedPart *part, int64_t *to);
const int64_t *part_read(Selection *selection, const int64_t *from, int order, int64_t peer, Arena *arena);

// Of a sorted selection, what follows the parts of the peer of part number `first`, up to the end.
int64_t selection_peer_end(const Selection *selection, int64_t first);
// The elements of all parts by peer, of which there are `ranks`.
int64_t *selection_elements(const Selection *selection, int64_t ranks, Arena *arena);
// The rectangles of all parts, and their number.
int64_t selection_rect_count(const Selection *selection);
RectArray selection_rects(const Selection *selection, Arena *arena);

#endif
