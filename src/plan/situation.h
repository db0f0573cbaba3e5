// SPDX-License-Identifier: BSD-3-Clause
// Situations: what has to move for one class of ranks in one step of a transfer, and the operation that moves
// it. The plan of a rank and the figures of all ranks both call these functions, so they agree on the
// operations, their members and elements, and their cost.
#ifndef DISTAL_PLAN_SITUATION_H
#define DISTAL_PLAN_SITUATION_H

#include "plan/planner.h"

struct Situation {
    Planner *planner;
    int64_t step, class_key;
    const Footprint *footprint; // of the class
    // The ranks of the class that lack the parts (a fetch), or have partial results of them (a reduction), in
    // increasing order.
    RankArray ranks;
    // In order of rect_compare; `rank` of each is where it comes from, or the first that it goes to.
    const Holding *parts;
    int64_t part_count;
    int64_t elements; // of all parts
    int64_t others;   // of one part: how many of the ranks do not have it at home
    bool previous;    // parts come from views of the step before, not from homes
};

// All parts together, and one of them alone.
Situation situation_create(Planner *planner, int64_t step, int64_t class_key, const Footprint *footprint,
                           RankArray ranks, const HoldingArray *parts);
Situation situation_of_part(const Situation *situation, int64_t part);
// What `taker` lacks of the footprint, from `source`, which used it in the step before.
Situation situation_of_shift(Planner *planner, int64_t step, const Footprint *footprint, int64_t taker,
                             int64_t source);
// The operation that moves the situation; NULL: its parts are moved one by one.
const Operation *situation_operation(const Situation *situation);

// The ranks of the group in which an operation moves the situation.
RankArray situation_members(const Situation *situation, const Operation *operation, Arena *arena);

typedef Array(Part) PartArray;
// Appends the parts that `rank` has in its view where it is one of the ranks of the situation, and those that
// it has at home, where `own` are its home pieces. Both are in `arena`.
void situation_view_parts(const Situation *situation, const Operation *operation, int64_t rank, Arena *arena,
                          PartArray *parts);
void situation_home_parts(const Situation *situation, const Operation *operation, int64_t rank,
                          const Region *own, Arena *arena, PartArray *parts);
void add_part(PartArray *parts, Part part, Arena *arena);
// From these parts, what an operation sends and receives.
RankOperation rank_operation(const Situation *situation, const Operation *operation, const PartArray *view,
                             const PartArray *home);

// Whether each part belongs to a different rank of the situation, and at least half of the ranks have one.
bool situation_is_spread(const Situation *situation);
// Whether each part is all that its owner has at home.
bool situation_has_whole_homes(const Situation *situation);
// Whether the parts are contiguous in a view of the footprint.
bool situation_is_contiguous(const Situation *situation);
// With more parts than this, packing them is worth its memory, and they are one operation even where they are
// not all that their owners have at home.
enum { MANY_PARTS = 16 };
// The cost where every rank receives, or contributes, what it does not have at home; and where it does so
// with all parts.
Cost count_others(const Situation *situation, Cost own);
Cost count_all(const Situation *situation, Cost own);

#endif
