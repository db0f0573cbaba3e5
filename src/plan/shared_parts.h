// SPDX-License-Identifier: BSD-3-Clause
// Shared parts: of an indexed fetch (plan/indexed.h), what several ranks of a node use of a rank of another
// node. One rank of the node, the receiver for that owner, requests it, once, and gets it in a block of
// memory that its neighbours can read, from which each copies what it uses. What only one of them uses of an
// owner, and replicas of other owners, the ranks request themselves. Figures are as if each had got all that
// it uses.
#ifndef DISTAL_PLAN_SHARED_PARTS_H
#define DISTAL_PLAN_SHARED_PARTS_H

#include "plan/plan.h"
#include "plan/rank_plan.h"
#include "plan/selection.h"

// Whether the ranks of a node get parts together in a transfer: where there are several nodes, one of them
// with several ranks. The same on all ranks.
bool transfer_shares_parts(const StatementPlan *plan, int transfer);

// The number of the member that is the receiver on the node of `rank` for an owner; -1: the owner is on this
// node, or the rank has no neighbours.
int64_t nodes_receiver(const Nodes *nodes, int64_t rank, int64_t owner);

// Where elements that a rank asks its receiver for are: in a run that has the coordinates from lo to before
// hi in the last mode of runs, and begins at element `offset` of the block. offset -1: the rank requests them
// from their owner.
typedef struct {
    int64_t offset, lo, hi;
} SharedRun;

// What ranks ask one receiver for: parts with their owners as peers, disjoint for each rank. Appends to
// `received` what it gets for them, in the order of owners, each element once: of owners of which some
// element is asked for several times. `runs`: for each rectangle of `asked`, in order. Returns the elements
// of the block, which are in the order of `received`.
int64_t shared_parts_find(const Selection *asked, Arena *arena, Selection *received, SharedRun *runs);

// The rectangle of the run that has a rectangle of a part.
Rect shared_run_rect(const Selection *asked, const SelectedPart *part, int64_t index, const SharedRun *run);

#endif
