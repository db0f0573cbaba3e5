// SPDX-License-Identifier: BSD-3-Clause
// Provenance with numbers put in: which source coordinates are reached under a set of fixed loop variables.
// This is bounds inference (DISTAL, section 6.2) done exactly: remainders clamp to the parent's rectangle,
// rotated and collapsed variables give a list of boxes where one interval would say too much.
#ifndef DISTAL_INDEX_PROVENANCE_H
#define DISTAL_INDEX_PROVENANCE_H

#include "index/cin.h"
#include "machine/positions.h"

typedef struct Provenance Provenance;

// Relations and extents of `cin` for these params, prepared for many queries. NULL with a diagnostic where an
// extent is negative or overflows, or blocks reach so far that coordinates do. Lives in the arena.
Provenance *provenance_create(const Cin *cin, const int64_t *params, Arena *arena, Diagnostics *diagnostics);

// Numeric extent of a variable.
int64_t provenance_extent(const Provenance *provenance, int var);

// A box: a set of coordinates for each variable, by id; those of the source variables are what counts. What a
// REL_CYCLIC gives to one value of its child[0] is a periodic set.
typedef struct {
    int64_t lo[MAX_VARS], hi[MAX_VARS];
    const Periodic *periodic[MAX_VARS];
} Box;
typedef Array(Box) BoxArray;

// The variables that matter in a nest: its loops, and what they are derived from. `active` has MAX_VARS
// entries.
void provenance_active(const Provenance *provenance, const int *loops, int loop_count, bool *active);

// The active variables on which the coordinates of `access` depend, directly or through relations. No
// relation connects them with the other active variables: those decide only whether there is an iteration at
// all.
void provenance_related(const Provenance *provenance, const bool *active, const Access *access,
                        bool *related);

// The source coordinates reached when each variable v with fixed[v] has value[v] and every other active loop
// has its full range: appended to `boxes`, with periodic sets in `arena` (disjoint, none empty; nothing at
// all where no iteration is left). A fixed value beyond the variable's extent reaches nothing. Entries of
// variables that are not active are unspecified.
void provenance_boxes(const Provenance *provenance, const bool *active, const bool *fixed,
                      const int64_t *value, Arena *arena, BoxArray *boxes);

// The values of `var` that these of `inner` give, in increasing order: child[1] of split, divide and cyclic
// lead from `var` to it, and what child[0] of each is stands in `box`.
PositionSet provenance_image(const Provenance *provenance, const Box *box, int var, int inner,
                             PositionSet values, Arena *arena);

// The coordinates of `access` in those boxes, as a region: disjoint rectangles. A variable that stands twice
// in one access (a diagonal) gives the square around it.
void provenance_region(const BoxArray *boxes, const Access *access, Arena *arena, Region *region);

#endif
