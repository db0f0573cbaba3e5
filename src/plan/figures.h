// SPDX-License-Identifier: BSD-3-Clause
// Figures: what a plan moves and what it takes, summed over the steps of its transfers.
#ifndef DISTAL_PLAN_FIGURES_H
#define DISTAL_PLAN_FIGURES_H

#include "plan/plan.h"

// Additions, subtractions, multiplications, divisions and calls of functions of all iterations; a sum counts
// one addition a summand.
int64_t count_flop(const StatementPlan *plan);

// Sets plan->transfers[transfer], from a walk through its steps.
void sum_transfer(StatementPlan *plan, int transfer);

// Sets the figures of all tensors and the peak of each rank, once all homes of the program are known.
void sum_statement(const Plan *plan, StatementPlan *statement);

#endif
