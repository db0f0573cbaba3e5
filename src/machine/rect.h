// SPDX-License-Identifier: BSD-3-Clause
// Rectangles of coordinates, half open in every mode, and regions: lists of disjoint rectangles.
// All of placement and of planning is arithmetic on these.
#ifndef DISTAL_MACHINE_RECT_H
#define DISTAL_MACHINE_RECT_H

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum { MAX_ORDER = 12 }; // modes of a tensor

// lo[d] <= x[d] < hi[d] for d < order. Of order 0: the one coordinate of a scalar, never empty.
typedef struct {
    int order;
    int64_t lo[MAX_ORDER], hi[MAX_ORDER];
} Rect;

typedef Array(Rect) RectArray;

// Disjoint non-empty rectangles; count 0 is the empty set.
typedef struct {
    RectArray rects;
} Region;

Rect rect_whole(int order, const int64_t *extents);
bool rect_is_empty(const Rect *rect);
// 0 when empty. Callers have checked that the volume of the whole tensor fits into 64 bits.
int64_t rect_volume(const Rect *rect);
bool rect_equal(const Rect *a, const Rect *b);
// Negative, 0 or positive, as qsort wants it: an order of the rectangles of one tensor.
int rect_compare(const Rect *a, const Rect *b);
bool rect_contains(const Rect *outer, const Rect *inner);
// False when they have no coordinate in common; *common is then unspecified.
bool rect_intersect(const Rect *a, const Rect *b, Rect *common);
// The smallest rectangle around both.
Rect rect_hull(const Rect *a, const Rect *b);
// Appends a \ b to `rest`: at most 2 * order disjoint rectangles.
void rect_subtract(const Rect *a, const Rect *b, Arena *arena, RectArray *rest);
// "[0:3, 4:8]"
void rect_print(const Rect *rect, Text *to);

int64_t region_volume(const Region *region);
bool region_equal(const Region *a, const Region *b); // rectangle by rectangle, in order
bool region_contains(const Region *region, const Rect *rect);
Rect region_hull(const Region *region); // of a region that is not empty
// Removes `rect` from the region.
void region_subtract(Region *region, const Rect *rect, Arena *arena);
// Joins neighbours that differ in one mode only, until no two can be joined.
void region_coalesce(Region *region);

#endif
