// SPDX-License-Identifier: BSD-3-Clause
// Rectangles: the product of a set of coordinates for each mode, mostly half-open intervals; and regions:
// lists of disjoint rectangles. Placement and planning are arithmetic on these.
#ifndef DISTAL_MACHINE_RECT_H
#define DISTAL_MACHINE_RECT_H

#include "base/arena.h"
#include "machine/positions.h"

enum { MAX_ORDER = 12 }; // modes of a tensor

// lo[d] <= x[d] < hi[d] for d < order, and x[d] in periodic[d] if that is not NULL. Of order 0: the element
// of a scalar, never empty.
typedef struct {
    int order;
    int64_t lo[MAX_ORDER], hi[MAX_ORDER];
    const Periodic *periodic[MAX_ORDER];
} Rect;

typedef Array(Rect) RectArray;

// Disjoint non-empty rectangles; count 0 is the empty set.
typedef struct {
    RectArray rects;
} Region;

Rect rect_whole(int order, const int64_t *extents);
PositionSet rect_mode(const Rect *rect, int mode);
void rect_set_mode(Rect *rect, int mode, PositionSet coords);
int64_t rect_count(const Rect *rect, int mode); // coordinates of one mode
// Whether a coordinate of one mode is among them.
static inline bool rect_has(const Rect *rect, int mode, int64_t coordinate) {
    return coordinate >= rect->lo[mode] && coordinate < rect->hi[mode] &&
           (!rect->periodic[mode] ||
            positions_count(positions_clip(rect_mode(rect, mode), coordinate, coordinate + 1)) > 0);
}
// With periodic sets of its own, in `arena`.
Rect rect_copy(const Rect *rect, Arena *arena);
bool rect_is_empty(const Rect *rect);
// 0 when empty; INT64_MAX where it is larger, as that of a sparse tensor may be.
int64_t rect_volume(const Rect *rect);
bool rect_equal(const Rect *a, const Rect *b);
// Negative, 0 or positive, as for qsort: an order of the rectangles of one tensor.
int rect_compare(const Rect *a, const Rect *b);
bool rect_contains(const Rect *outer, const Rect *inner);
// False if the intersection is empty; *common is then unspecified.
bool rect_intersect(const Rect *a, const Rect *b, Arena *arena, Rect *common);
// The volume of the intersection, INT64_MAX where it overflows.
int64_t rect_common(const Rect *a, const Rect *b);

// A rectangle cut into chunks of `most` elements at most, as even as whole coordinates allow: in
// lexicographic order of the modes mode_order[0], mode_order[1], ..., or 0, 1, ... where that is NULL, each
// has the elements that follow those of the one before.
typedef struct {
    Rect rect;
    int mode_order[MAX_ORDER];
    int cut; // the index of the mode that chunks have parts of: of those before, they have one coordinate
    int64_t parts; // of it
    int64_t count; // of chunks; INT64_MAX where there are more
} RectChunks;
RectChunks rect_chunks(const Rect *rect, const int *mode_order, int64_t most);
Rect rect_chunk(const RectChunks *chunks, int64_t index);

int64_t region_volume(const Region *region);
Region region_copy(const Region *region, Arena *arena);
bool region_equal(const Region *a, const Region *b); // rectangle by rectangle, in order
// Of a rectangle whose volume overflows: whether one rectangle of the region contains it.
bool region_contains(const Region *region, const Rect *rect);
// Removes `rect`, or the rectangles of another region, from the region.
void region_subtract(Region *region, const Rect *rect, Arena *arena);
void region_subtract_all(Region *region, const Region *other, Arena *arena);
// What a region has that the other one has not.
Region region_without(const Region *region, const Region *other, Arena *arena);
// Joins neighbours that differ in one mode only, until no two can be joined.
void region_coalesce(Region *region);

#endif
