// SPDX-License-Identifier: BSD-3-Clause
// Indexed fetches: of an operand that is multiplied by a sparse one, a rank needs the elements at the
// coordinates of the entries that it uses of the sparse one, and no others of its footprint. Which these are
// is known with the structure; then each rank finds its own, and requests them from their owners. A sparse
// operand that no other one indexes is requested in the same way, by its footprint.
#ifndef DISTAL_PLAN_INDEXED_H
#define DISTAL_PLAN_INDEXED_H

#include "format/stored.h"
#include "plan/plan.h"
#include "plan/rank_plan.h"
#include "plan/selection.h"

// The transfer of the operand whose entries index the one of `transfer`, -1: it is no indexed fetch. Dense
// operands have one step then, and intervals of coordinates at home.
int transfer_indexed_by(const StatementPlan *plan, int transfer);

// What a rank uses of an operand. `parts`: what it lacks of a dense one, or uses of a sparse one, sorted by
// the ranks that have them at home. Runs are in the modes that it has in common with the operand that
// indexes.
//
// Of a dense one, `bounds` is the bounding box of all that it uses, which is empty where it uses nothing, and
// `piece` the home piece that contains it, -1: none does. Else what it uses is in a buffer, which has all
// coordinates of the box or, where this takes less memory, in a mode with an index level
// (Transfer.index_levels) those that entries have: coordinates[mode] in increasing order, whose indices in
// this list take their place in `view`. `own`: what is copied there from home pieces.
typedef struct {
    Selection parts, own;
    Rect bounds, view;
    int64_t piece;
    const int64_t *coordinates[MAX_ORDER]; // NULL: all of the box
    int64_t entries;                       // that it uses of the operand that indexes
} IndexedUse;

// What a rank has of the operand that indexes: the distinct coordinates of its entries in the modes that both
// have in common, and the number of these entries. entries_free follows of the points.
typedef struct {
    Entries points;
    int64_t entries;
} IndexedPoints;

// The level of the operand that indexes, as leaves read it, that lists the coordinates of the only mode in
// common with a dense operand; -1: there are more, or none does. Where the rank uses all the entries that it
// has, which are those of `by`, the points are what is distinct in this list. `by` may be NULL: there are
// none.
int indexed_level(const StatementPlan *plan, int transfer, int64_t rank, const StoredTensor *by);
// `entries` are those that the rank has of the operand that indexes; those that it does not use are removed.
// This and the next: NULL on success, else the reason of the failure.
const char *indexed_points(const StatementPlan *plan, int transfer, int64_t rank, Entries *entries,
                           IndexedPoints *points);
// Without points where no operand indexes. The points are sorted.
const char *indexed_use(const StatementPlan *plan, int transfer, int64_t rank, const IndexedPoints *points,
                        Arena *arena, IndexedUse *use);

// Rows of the operand that indexes, which has the coordinates of its first level in order: those from `begin`
// to before `end` have entries that need nothing but what is at home, as have no more of consecutive rows.
// `first` and `after`: where rows with entries begin and end.
typedef struct {
    int64_t begin, end, first, after;
    int64_t entries; // in them
} IndexedRows;

// Of what indexed_use has found with indexed_level, of a tensor whose first level is full: `by` has the
// levels that leaves read.
IndexedRows indexed_rows(const StatementPlan *plan, int transfer, int64_t rank, const StoredTensor *by,
                         const IndexedUse *use, Arena *arena);

// The index of the first coordinate that is not less than `x` in a list of `count` in increasing order.
int64_t coordinate_index(const int64_t *list, int64_t count, int64_t x);
// A part in terms of the view.
Rect indexed_in_view(const IndexedUse *use, const Rect *part);
// Elements of the buffer, and bytes of the numbers that take the place of coordinates in the levels of the
// operand that indexes: one for each of its entries.
int64_t indexed_buffer(const IndexedUse *use);
int64_t indexed_number_bytes(const StatementPlan *plan, int transfer, const IndexedUse *use);

// Of the parts of one peer, `count` from number `first` on, of a dense operand: whether their elements are
// contiguous in the order in which they are in a message, in the view, where they then arrive; and at home,
// from where they are then sent, unless the caller's memory has gaps. Else they are copied.
bool indexed_arrives_in_view(const IndexedUse *use, const Selection *parts, const Tensor *tensor,
                             int64_t first, int64_t count);
bool indexed_leaves_home(const Selection *selection, const Home *home, int64_t first, int64_t count);

// What it costs `rank` to receive these numbers of elements, by rank; those of its own are not moved.
Cost indexed_cost(const StatementPlan *plan, int transfer, int64_t rank, const int64_t *elements);

#endif
