// SPDX-License-Identifier: BSD-3-Clause
// Transfers of sparse tensors. What a rank uses of one are the entries in its footprint, a region of
// coordinates, and it uses them where it has them at home: nothing of a sparse tensor is moved yet.
#ifndef DISTAL_PLAN_RANK_ENTRIES_H
#define DISTAL_PLAN_RANK_ENTRIES_H

#include "plan/plan.h"

// Whether every rank has at home what it uses of the sparse tensor of a transfer; a diagnostic says where
// not.
bool entries_are_at_home(const StatementPlan *plan, int transfer, Diagnostics *diagnostics);

// The part of a rank, in the arena of the plan.
const RankTransfer *rank_entries(StatementPlan *plan, int transfer, int64_t rank);

// Figures of all ranks.
TransferFigures entries_figures(const StatementPlan *plan, int transfer);

#endif
