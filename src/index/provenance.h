// SPDX-License-Identifier: BSD-3-Clause
// Provenance with numbers put in: which source coordinates are reached from given ranges of loops.
// This is bounds inference (DISTAL, section 6.2) done exactly: remainders clamp to the parent's rectangle,
// rotated and collapsed variables give a list of boxes where one interval would say too much.
#ifndef DISTAL_INDEX_PROVENANCE_H
#define DISTAL_INDEX_PROVENANCE_H

#include "index/cin.h"
#include "machine/rect.h"

typedef struct Provenance Provenance;

// Relations and extents of `cin` for these params, prepared for many queries. NULL with a diagnostic where an
// extent is negative or overflows, or blocks reach so far that coordinates do. Lives in the arena.
Provenance *provenance_create(const Cin *cin, const int64_t *params, Arena *arena, Diagnostics *diagnostics);

// A copy in `arena` that depends on nothing else: it may outlive the Cin.
Provenance *provenance_copy(const Provenance *provenance, Arena *arena);

// Numeric extent of a variable.
int64_t provenance_extent(const Provenance *provenance, int var);

// The values that loops have: lo[v] <= v < hi[v]. A fixed loop has a range of one. `asked` are the variables
// whose values are asked for; boxes may say less of the others, which saves boxes.
typedef struct {
    int64_t lo[MAX_VARS], hi[MAX_VARS];
    VarSet asked;
} LoopRanges;

// All values of all variables, and all asked for; a loop is then restricted.
void provenance_ranges(const Provenance *provenance, LoopRanges *ranges);
static inline void ranges_restrict(LoopRanges *ranges, int var, int64_t lo, int64_t hi) {
    ranges->lo[var] = lo;
    ranges->hi[var] = hi;
}
static inline void ranges_fix(LoopRanges *ranges, int var, int64_t value) {
    ranges_restrict(ranges, var, value, value + 1);
}

// The variables that matter in a nest: its loops, and what they are derived from. `active` has MAX_VARS
// entries.
void provenance_active(const Provenance *provenance, const int *loops, int loop_count, bool *active);

// The active variables on which the coordinates of `access` depend, directly or through relations. No
// relation connects them with the other active variables: those decide only whether there is an iteration at
// all.
void provenance_related(const Provenance *provenance, const bool *active, const Access *access,
                        bool *related);

// The source coordinates reached from these ranges of the active loops: appended to `boxes`, with periodic
// sets in `arena` (none empty; disjoint where all variables are asked for; nothing at all where no iteration
// is left). Values beyond the extent of a loop reach nothing. Entries of variables that are not active are
// unspecified.
void provenance_boxes(const Provenance *provenance, const bool *active, const LoopRanges *ranges,
                      Arena *arena, BoxArray *boxes);

// Whether the elements of `access` that are reached where the loops in `fixed` have one value form no more
// than MAX_BOXES boxes; else a diagnostic. Without this check a query may take any amount of memory.
enum { MAX_BOXES = 1 << 15 };
bool provenance_check(const Provenance *provenance, const Cin *cin, const Nest *nest, const Access *access,
                      VarSet fixed, Diagnostics *diagnostics);

// One box that contains everything reached; false where nothing is. Costs a few divisions a relation
// whatever the ranges, and allocates nothing. Monotone: what smaller ranges give is contained in what larger
// ones give. One value
// of each loop gives one of each variable; a wrapped rotation and a range of processors of a block-cyclic
// loop are periodic sets.
bool provenance_bounding_box(const Provenance *provenance, const bool *active, const LoopRanges *ranges,
                             BoundingBox *bounds);

// The values of `var` that these of `inner` give, in increasing order: child[1] of relations that partition
// lead from `var` to it, and `box` has one value of child[0] of each.
PositionSet provenance_image(const Provenance *provenance, const Box *box, int var, int inner,
                             PositionSet values, Arena *arena);

// The coordinates of `access` in those boxes, as a region: disjoint rectangles. A variable that indexes
// two modes of one access (a diagonal) gives the square around it.
void provenance_region(const BoxArray *boxes, const Access *access, Arena *arena, Region *region);

#endif
