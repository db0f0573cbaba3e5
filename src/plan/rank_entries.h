// SPDX-License-Identifier: BSD-3-Clause
// Transfers of sparse tensors. What a rank uses of one are the entries in its footprint, a region of
// coordinates. Where it has them at home, it uses them there; else it gets a copy of what it uses, for which
// entries move when structures are known (indexed.h).
#ifndef DISTAL_PLAN_RANK_ENTRIES_H
#define DISTAL_PLAN_RANK_ENTRIES_H

#include "plan/plan.h"

// Whether some rank uses or computes entries of the sparse tensor of a transfer that it does not have at
// home, or that other ranks have as well and would not get.
bool entries_move(const StatementPlan *plan, int transfer);

// The part of a rank, in the arena of the plan.
const RankTransfer *rank_entries(StatementPlan *plan, int transfer, int64_t rank);

// Figures of all ranks, without what depends on entries.
TransferFigures entries_figures(const StatementPlan *plan, int transfer);

#endif
