// SPDX-License-Identifier: BSD-3-Clause
// What a kernel gets for the processor that it runs for: its coordinates, and the numbers that the entries of
// balanced tensors determine for it (spmd_processor_numbers).
#ifndef DISTAL_PLAN_PROCESSOR_H
#define DISTAL_PLAN_PROCESSOR_H

#include "plan/plan.h"

// How many there are, and those of processor `local` of a rank.
int processor_value_count(const StatementPlan *plan);
void processor_values(const StatementPlan *plan, int64_t rank, int64_t local, int64_t *values);

#endif
