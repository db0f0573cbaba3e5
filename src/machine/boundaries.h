// SPDX-License-Identifier: BSD-3-Clause
// Parts of different lengths of a tensor: in lexicographic order of some modes each part has the coordinates
// from where it begins to where the next one does. Where that is follows from the entries where these balance
// the parts (SpDISTAL, section II-B), so it is known when these are; else it is known from the beginning.
#ifndef DISTAL_MACHINE_BOUNDARIES_H
#define DISTAL_MACHINE_BOUNDARIES_H

#include "machine/division.h"

#define MOST_STORED (INT64_C(1) << 62)

typedef struct {
    Division division;
    int64_t extents[MAX_ORDER]; // of its modes
    int64_t count;              // parts
    int64_t total;              // of what is divided: entries, or coordinates that hold entries
    // How much of it is in the parts before; count + 1 of them.
    const int64_t *positions;
    // Where parts begin, a coordinate of each mode of the division; count + 1 of them, the last is behind
    // all. Those within one part of a level around begin with coordinates that hold entries, but for the
    // first one.
    const int64_t *starts;
    // The first and the last coordinates that hold entries; of a part that is empty, the first ones of those
    // behind it, and the last ones of those before it, if there are any.
    const int64_t *firsts, *lasts;
} Boundaries;
typedef Array(const Boundaries *) BoundariesArray;

// Parts that do not follow from entries; of others, parts of equally many coordinates: what is assumed while
// entries are not known. `extents` are those of the modes of the division.
const Boundaries *boundaries_even(const Division *division, const int64_t *extents, Arena *arena);
const Boundaries *boundaries_copy(const Boundaries *boundaries, Arena *arena);
// Those of a division, or NULL.
const Boundaries *boundaries_find(const BoundariesArray *list, const Division *division);

// The length of the longest part, in the first mode.
int64_t boundaries_longest(const Boundaries *boundaries);

// The part that these coordinates, one of each mode of the division, are in.
int64_t boundaries_part(const Boundaries *boundaries, const int64_t *coordinates);
// The first coordinates that hold entries of a part: a coordinate of each mode of the division.
const int64_t *boundaries_first(const Boundaries *boundaries, int64_t part);
// Appends what the parts `first` to before `last` have of `rect` as disjoint rectangles: of each cell at most
// 2 * mode_count - 1.
void boundaries_rects(const Boundaries *boundaries, int64_t first, int64_t last, const Rect *rect,
                      Arena *arena, RectArray *rects);

// What positions have, of what is divided, where `rect` has the whole extents of the modes of the division:
// appends rectangles from the first to the last coordinates of each part that has some of them, disjoint
// ones; and a bound for those from `first` to before `last`, at least one, monotone.
void boundaries_image(const Boundaries *boundaries, PositionSet positions, const Rect *rect, Arena *arena,
                      RectArray *rects);
void boundaries_bound(const Boundaries *boundaries, int64_t first, int64_t last, Rect *rect);

#endif
