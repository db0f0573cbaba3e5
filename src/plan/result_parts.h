// SPDX-License-Identifier: BSD-3-Clause
// The parts of a sparse result that a rank computes and other ranks have at home: what it sends there.
#ifndef DISTAL_PLAN_RESULT_PARTS_H
#define DISTAL_PLAN_RESULT_PARTS_H

#include "plan/plan.h"
#include "plan/situation.h"

typedef struct {
    const Home *home;
    bool completes; // other ranks have parts of the fibers (plan/home.h) that this rank finds
    Rect bounds;    // of what this rank computes; empty: nothing
} ResultParts;

// `tensor` is that of the statement, whose home may be that of another tensor with the same levels.
ResultParts result_parts(const StatementPlan *plan, const Tensor *tensor, const Home *home, int64_t rank);
// Which coordinates are stored where it is computed. Of fibers that are cut, all: a rank that computes
// nothing of a fiber's part at another rank sends the first element there, a zero, so that the fiber is
// stored there.
Rect result_parts_stored(const ResultParts *parts);
// Those of the homes of all ranks, sorted by rank (part_order).
PartArray result_parts_list(const ResultParts *parts, Arena *arena);

#endif
