// SPDX-License-Identifier: BSD-3-Clause
// Sets of positions in one dense level (of coordinates of one mode): an interval, or the part of an interval
// that lies in a periodic set. The part of a processor is an interval in a mode with contiguous blocks, and
// periodic in a block-cyclic mode, so that its description does not grow with the extent. Results of all
// operations are such sets.
#ifndef DISTAL_MACHINE_POSITIONS_H
#define DISTAL_MACHINE_POSITIONS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

// An interval of one period: lo <= offset < hi. `before`: positions of the period that lie below it.
typedef struct {
    int64_t lo, hi, before;
} Segment;

// Segments that repeat every `period` positions, infinitely in both directions: x is in the set if
// floor_mod(x - origin, period) lies in a segment.
typedef struct {
    int64_t origin, period;
    int64_t size;  // positions in a period; fewer than the period
    int64_t count; // at least one
    const Segment *segments;
} Periodic;

// lo <= x < hi; if `periodic` is not NULL, only its members, of which lo and hi - 1 are two. Empty if lo >=
// hi.
typedef struct {
    int64_t lo, hi;
    const Periodic *periodic; // NULL: all
} PositionSet;

bool periodic_equal(const Periodic *a, const Periodic *b);
Periodic *periodic_copy(const Periodic *periodic, Arena *arena);

// The members of a set are numbered from 0 in increasing order: their count, the index of member x (for any
// x: the number of members below it), and the member with an index.
int64_t positions_count(PositionSet set);
int64_t positions_index(PositionSet set, int64_t x);
int64_t positions_at(PositionSet set, int64_t index);

// The members in lo .. hi, and those with indices first .. last (both half open).
PositionSet positions_clip(PositionSet set, int64_t lo, int64_t hi);
PositionSet positions_slice(PositionSet set, int64_t first, int64_t last);
// The first contiguous run of members from x on: an interval, empty if there is none.
PositionSet positions_run(PositionSet set, int64_t x);

// Of an interval, the first position and every `period`th after it.
PositionSet positions_every(PositionSet interval, int64_t period, Arena *arena);

PositionSet positions_intersect(PositionSet a, PositionSet b, Arena *arena);
// a \ b as up to three non-empty sets: before b, between the members of b, after b. Returns their number.
int positions_subtract(PositionSet a, PositionSet b, Arena *arena, PositionSet rest[3]);
int64_t positions_common(PositionSet a, PositionSet b); // size of the intersection
bool positions_contain(PositionSet outer, PositionSet inner);
bool positions_equal(PositionSet a, PositionSet b); // as sets, however they are described
// Negative, 0 or positive: an order of the sets, 0 where they are equal.
int positions_compare(PositionSet a, PositionSet b);

// Images of sets. shift: x + by. reflect: from - x. blocks: o * block + x for all o of `outer` and x of
// `inner`, a subset of 0 .. block - 1; the number of segments is that of the members of `outer` in a period,
// times the runs of `inner` if that is not the whole block. cyclic: the coordinates whose local index on
// processor `which` is in `set`, where blocks of `block` coordinates are distributed round-robin over `size`
// processors. Images must not be negative or overflow.
PositionSet positions_shift(PositionSet set, int64_t by, Arena *arena);
PositionSet positions_reflect(PositionSet set, int64_t from, Arena *arena);
PositionSet positions_blocks(PositionSet outer, int64_t block, PositionSet inner, Arena *arena);
PositionSet positions_cyclic(PositionSet set, int64_t block, int64_t size, int64_t which, Arena *arena);

// Products of rows and columns: all of row * width + column.
typedef struct {
    PositionSet rows, columns;
} Rows;
typedef Array(Rows) RowsArray;

// Appends the set as disjoint non-empty products: at most three for an interval (a partial row, whole rows, a
// partial row); for a periodic set as many as it has different rows, or three for each run if that is less.
void positions_rows(PositionSet set, int64_t width, Arena *arena, RowsArray *result);

#endif
