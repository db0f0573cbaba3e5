// SPDX-License-Identifier: BSD-3-Clause
// What a kernel gets for the processor that it runs for: its coordinates, and the numbers that the entries of
// balanced tensors determine for it (spmd_processor_numbers).
#ifndef DISTAL_PLAN_PROCESSOR_H
#define DISTAL_PLAN_PROCESSOR_H

#include "plan/plan.h"

// How many there are, and those of the processors of a rank, one after the other: per_rank times as many.
int processor_value_count(const StatementPlan *plan);
// Positions that processors of a rank have are counted over all ranks, so it must have all positions of their
// parts. A relation that distributes positions of which a rank has several parts, and of these only the
// positions with some coordinates of other modes; NULL: there is none.
const Relation *processor_positions_unknown(const StatementPlan *plan);
void processor_values(const StatementPlan *plan, int64_t rank, int64_t *values);

#endif
