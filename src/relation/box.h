// SPDX-License-Identifier: BSD-3-Clause
// Boxes: a set of values for each index variable, and all combinations of them.
#ifndef DISTAL_RELATION_BOX_H
#define DISTAL_RELATION_BOX_H

#include "machine/positions.h"
#include "relation/variable.h"

// Values by variable; only those of variables that matter where the box is made are set.
typedef struct {
    PositionSet values[MAX_VARS];
} Box;
typedef Array(Box) BoxArray;

// Boxes while they are made; no more than `limit` are, and what there is then is not all.
typedef struct {
    Arena *arena; // for periodic sets as well
    BoxArray *boxes;
    VarSet used_once; // by one relation, and not asked for: with which of its values a box is reached is not
                      // kept
    int64_t limit;
    bool full;
} BoxList;

// Puts the box in the place of box `at`, or where that has been done (`*any`) at the end of the list.
void box_list_put(BoxList *list, int64_t at, const Box *box, bool *any);

// One box around everything that is reached, with the memory of its periodic sets: it is not to be copied.
typedef struct {
    Box box;
    Periodic periodic[MAX_VARS]; // of one segment each
    Segment segments[MAX_VARS];
} BoundingBox;

static inline PositionSet interval(int64_t lo, int64_t hi) {
    return (PositionSet){lo, hi, NULL};
}

// The whole of 0 <= x < extent.
bool positions_are_all(PositionSet values, int64_t extent);

// These set the values of a variable of the given extent, clamped to 0 <= x < extent; false where none is
// left.
bool bound_values(BoundingBox *bounds, int var, int64_t extent, PositionSet values);
// From lo to hi those in the first `length` of each `period` values, counted from `origin`.
bool bound_periodic(BoundingBox *bounds, int var, int64_t extent, int64_t lo, int64_t hi, int64_t origin,
                    int64_t period, int64_t length);
// `length` values modulo the extent, from `first` on.
bool bound_circular(BoundingBox *bounds, int var, int64_t extent, int64_t first, int64_t length);

#endif
