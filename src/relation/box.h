// SPDX-License-Identifier: BSD-3-Clause
// Boxes: a set of values for each index variable, and all combinations of them.
#ifndef DISTAL_RELATION_BOX_H
#define DISTAL_RELATION_BOX_H

#include "machine/positions.h"
#include "relation/variable.h"

// Values by variable; only those of the variables in use are set.
typedef struct {
    PositionSet values[MAX_VARS];
} Box;
typedef Array(Box) BoxArray;

// A list of boxes; if it has reached `limit`, some may be missing.
typedef struct {
    Arena *arena; // for periodic sets as well
    BoxArray *boxes;
    VarSet used_once; // variables that one relation uses and that are not requested: boxes do not keep their
                      // values
    int64_t limit;
    bool full;
} BoxList;

// Replaces box `at` by the box, or, if that has been done (`*any`), appends it to the list.
void box_list_put(BoxList *list, int64_t at, const Box *box, bool *any);

// A bounding box, with the memory of its periodic sets; it must not be copied.
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

// These set the values of a variable of the given extent, clamped to 0 <= x < extent; false if none are left.
bool bound_values(BoundingBox *bounds, int var, int64_t extent, PositionSet values);
// From lo to hi those in the first `length` of each `period` values, counted from `origin`.
bool bound_periodic(BoundingBox *bounds, int var, int64_t extent, int64_t lo, int64_t hi, int64_t origin,
                    int64_t period, int64_t length);
// `length` values modulo the extent, from `first` on.
bool bound_circular(BoundingBox *bounds, int var, int64_t extent, int64_t first, int64_t length);

#endif
