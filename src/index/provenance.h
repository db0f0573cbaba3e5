// SPDX-License-Identifier: BSD-3-Clause
// Provenance with numbers put in: which source coordinates are reached from given ranges of loops.
// This is exact bounds inference (DISTAL, section 6.2): remainders clamp to the parent's rectangle, and
// rotated and collapsed variables give a list of boxes where one interval would be too large.
#ifndef DISTAL_INDEX_PROVENANCE_H
#define DISTAL_INDEX_PROVENANCE_H

#include "index/cin.h"
#include "machine/rect.h"

typedef struct Provenance Provenance;

// What the entries of a tensor balance where its positions are distributed: loops that one relation or
// several divide the positions of all its leading levels into. False where there are none.
bool provenance_division(const Cin *cin, const Relation *relation, const int64_t *params, Arena *arena,
                         Division *division);

// Relations and extents of `cin` for these params, prepared for many queries. Where entries balance parts and
// `known` has no boundaries of these, parts of equal length are assumed. NULL with a diagnostic if an extent
// is negative, or if extents or coordinates overflow. Lives in the arena.
Provenance *provenance_create(const Cin *cin, const int64_t *params, const BoundariesArray *known,
                              Arena *arena, Diagnostics *diagnostics);

// A copy in `arena` that depends on nothing else: it may outlive the Cin.
Provenance *provenance_copy(const Provenance *provenance, Arena *arena);

// Relation number `index` of the Cin, with numbers.
const NumericRelation *provenance_relation(const Provenance *provenance, int64_t index);

// Numeric extent of a variable.
int64_t provenance_extent(const Provenance *provenance, int var);

// The values that a variable of the statement has in iterations, an interval: its extent, less where an index
// of it alone, such as i + 1, leaves its mode.
PositionSet provenance_window(const Provenance *provenance, int var);

// The values of loops: lo[v] <= v < hi[v]. A fixed loop has a range of one. `requested` are the variables
// whose values matter; boxes may be less exact in the others, which makes them fewer.
typedef struct {
    int64_t lo[MAX_VARS], hi[MAX_VARS];
    VarSet requested;
} LoopRanges;

// All values of all variables, and all requested; a loop is then restricted.
void provenance_ranges(const Provenance *provenance, LoopRanges *ranges);
static inline void ranges_restrict(LoopRanges *ranges, int var, int64_t lo, int64_t hi) {
    ranges->lo[var] = lo;
    ranges->hi[var] = hi;
}
static inline void ranges_fix(LoopRanges *ranges, int var, int64_t value) {
    ranges_restrict(ranges, var, value, value + 1);
}

// The variables of a nest: its loops, and those that they are derived from. `active` has MAX_VARS entries.
void provenance_active(const Provenance *provenance, const int *loops, int loop_count, bool *active);

// The active variables on which the coordinates of `access` depend, directly or through relations. No
// relation connects them with the other active variables, which only decide whether there is an iteration.
void provenance_related(const Provenance *provenance, const bool *active, const Access *access,
                        bool *related);

// The only active relation that rotates a loop by the values of others; NULL: there is none, or several.
const Relation *provenance_rotation(const Provenance *provenance, const bool *active);
// As provenance_related, for these variables in place of coordinates, and not through the operands of
// rotations: an operand that is not found matters for the value of the rotated variable only.
void provenance_located(const Provenance *provenance, const bool *active, VarSet vars, bool *located);

// The source coordinates reached from these ranges of the active loops: appended to `boxes`, with periodic
// sets in `arena` (none empty; disjoint where all variables are requested; nothing at all where no iteration
// is left). Values beyond the extent of a loop reach nothing. Entries of variables that are not active are
// unspecified.
void provenance_boxes(const Provenance *provenance, const bool *active, const LoopRanges *ranges,
                      Arena *arena, BoxArray *boxes);

// Whether the elements of `access` that are reached while the loops in `fixed` have one value form no more
// than MAX_BOXES boxes; else false with a diagnostic. Without this check, a query may take any amount of
// memory.
enum { MAX_BOXES = 1 << 15 };
bool provenance_check(const Provenance *provenance, const Cin *cin, const Nest *nest, const Access *access,
                      VarSet fixed, Diagnostics *diagnostics);

// One box that contains all values that are reached; false if there are none. Costs a few divisions for each
// relation, whatever the ranges, and allocates nothing. Monotone: the box of smaller ranges is contained in
// that of larger ones. One value of each loop gives one value of each variable; a wrapped rotation and a
// range of processors of a block-cyclic loop give periodic sets.
bool provenance_bounding_box(const Provenance *provenance, const bool *active, const LoopRanges *ranges,
                             BoundingBox *bounds);

// The values of `var` for these values of `inner`, in increasing order. `inner` is derived from `var` as
// child[1] of relations that partition, and `box` has one value of child[0] for each of these.
PositionSet provenance_image(const Provenance *provenance, const Box *box, int var, int inner,
                             PositionSet values, Arena *arena);

// Appends what the access reaches in each of the boxes, which are of these active variables. Where a variable
// is in several modes, as along a diagonal, or indices of several variables leave gaps or limit these
// together, that is a rectangle for each value of a variable, or where these would be more than `most`, for
// each of as many parts of its values; `most` is 0: one for all.
void provenance_rects(const Provenance *provenance, const bool *active, const BoxArray *boxes,
                      const Access *access, int64_t most, Arena *arena, RectArray *rects);
// About how many rectangles these are where `most` is no limit; nothing is listed.
int64_t provenance_rect_count(const Provenance *provenance, const bool *active, const BoxArray *boxes,
                              const Access *access, Arena *arena);

#endif
